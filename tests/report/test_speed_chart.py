"""The table and the pictures of speed.json."""

from pathlib import Path

import pytest

from psp.report import charts
from psp.report.speed_chart import chart, draw, table


def measured(name, cores, warm):
    rates = {"min": 0.9 * warm, "median": warm, "max": 1.1 * warm}
    row = {"name": name, "cores": cores, "dim": 8, "load_seconds": 0.25, "warm": rates, "cold": rates}
    return row | {"forward": None, "no_forward": "it has no entry for ids"}


def result(*systems, **conditions):
    about = {"dim": 8, "vocab_size": 60, "mean_pieces": 9.5, "cpu": "a processor", "repeats": 3, "load_before": [0.5]}
    missing = [{"name": "USE", "why": "it is not installed\nfor a reason"}]
    return {
        "model": "fr", "systems": systems, "missing": missing, "sentences": 100, "conditions": about | conditions
    }  # fmt: skip


@pytest.fixture
def figures(monkeypatch):
    """The figures that are drawn, in the place of files."""
    found = []
    monkeypatch.setattr(charts, "save", lambda make, out: found.append(make()))
    return found


@pytest.mark.parametrize(
    ("on_two", "drawn"),
    [
        ({"a": 1000, "b": 50}, ["a", "b"]),
        ({"a": 1150, "b": 50}, ["a", "b"]),  # within the spread
        ({"a": 1000, "b": 95}, ["a, 1 core", "b, 1 core", "a, 2 cores", "b, 2 cores"]),
        ({"a": 1000, "b": 25}, ["a, 1 core", "b, 1 core", "a, 2 cores", "b, 2 cores"]),
        ({"a": 1000, "b": 50, "c": 7}, ["a, 1 core", "b, 1 core", "a, 2 cores", "b, 2 cores", "c, 2 cores"]),
    ],
)
def test_one_number_of_cores_is_drawn_unless_more_change_something(on_two, drawn, figures):
    found = result(measured("a", 1, 1000), measured("b", 1, 50), *(measured(name, 2, on_two[name]) for name in on_two))
    draw(found, Path("speed.png"))
    assert [label.get_text() for label in figures[0].axes[0].get_yticklabels()] == drawn
    assert "2 cores" not in chart(found)  # the page has the others in its table
    assert len(table(found).rows) == 2 + len(on_two)
    assert any("no faster on 2" in note for note in table(found).notes) == (len(drawn) == 2)


def test_what_was_not_measured_is_told_below():
    notes = table(result(measured("a", 1, 1000))).notes
    assert "Without ids in: a (it has no entry for ids)" in notes and "Not measured: USE (it is not installed)" in notes
    assert any(note.startswith("Not requested (speed: own): psp float32, NumPy; ") for note in notes)
    assert "a processor; load before the measurement 0.5" in notes[0]


def test_the_picture_is_whole_whatever_the_processor_is_called(figures):
    cpu = "Intel(R) Xeon(R) Platinum 8481C CPU @ 2.70GHz with AMX, virtual, " * 2
    draw(result(measured("a", 1, 1000), cpu=cpu), Path("speed.png"))
    (figure,) = figures
    figure.canvas.draw()
    (below,) = figure.texts[1:]
    assert " ".join(cpu.split()) in " ".join(below.get_text().split("\n"))
    place, panel = below.get_window_extent(), figure.axes[0].get_tightbbox()
    assert place.x0 >= 0 and place.x1 <= figure.bbox.width
    assert place.y0 >= 0 and place.y1 <= panel.y0
    assert "1,000" in [text.get_text() for text in figure.axes[0].texts]
    assert figure.axes[0].get_xscale() == "log" and not figure.axes[0].patches  # bars would start nowhere


def test_the_picture_is_a_file(tmp_path):
    draw(result(measured("a", 1, 1000)), tmp_path / "speed.png")
    content = (tmp_path / "speed.png").read_bytes()
    assert content.startswith(b"\x89PNG") and int.from_bytes(content[16:20]) > 800
