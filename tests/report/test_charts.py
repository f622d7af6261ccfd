"""Charts in pages."""

import re
import xml.etree.ElementTree as ET

import matplotlib
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from psp.report import charts

DOTS = [
    {"name": f"set {number}", "system": system, "value": 60.0 + number, "low": low, "high": high}
    for number in range(3)
    for system, low, high in (("own", 58.0, 65.0), ('<other> & "quoted"', None, None))
]
DRAWN = {
    "dots": lambda name: charts.dots(DOTS, label="Pearson", name=name),
    "funnel": lambda name: charts.funnel([("read", 2000), ("filter <b>", 1500)], label="pairs", name=name),
    "logarithmic": lambda name: charts.dots(
        [
            {"name": "a", "system": "text in", "value": 85.0, "low": 80.0, "high": 90.0},
            {"name": "b", "system": "ids in", "value": 170000.0, "low": 160000.0, "high": 180000.0},
        ],
        label="sentences/s", name=name, logarithmic=True,
    ),
    "panel": lambda name: charts.panel(
        lambda axes: axes.plot([1, 2, 3], [3.0, 2.0, 1.5]), x="pairs seen", y="loss", name=name
    ),
    "scatter": lambda name: charts.scatter(
        [
            {"name": "int8", "MB": 5, "STS": 60, "low": 59, "high": 61},
            {"name": "x", "MB": 9, "STS": 62, "low": None, "high": None},
        ],
        x="MB", y="STS", name=name,
    ),
}  # fmt: skip


@pytest.mark.parametrize("kind", DRAWN)
def test_a_chart_is_xml_without_script_or_outside_address(kind):
    text = DRAWN[kind]("here")
    root = ET.fromstring(str(text))
    assert root.get("role") == "img" and root.get("aria-label") and root.get("viewBox")
    assert root.get("width") is None  # as wide as its place
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "image", "foreignObject", "a", "b"}
    assert all(match.startswith("http://www.w3.org/") for match in re.findall(r"https?://[^\"' ]+", text))
    assert "currentColor" in text  # readable on a light and on a dark page


@pytest.mark.parametrize("kind", ["dots", "panel"])
def test_the_same_data_gives_the_same_bytes_and_no_identifier_twice(kind):
    one, two = DRAWN[kind]("one"), DRAWN[kind]("two")
    assert DRAWN[kind]("one") == one
    identifiers = re.findall(r'\bid="([^"]+)"', one + two)
    assert len(identifiers) == len(set(identifiers))


def test_every_system_and_note_is_named():
    texts = [element.text for element in ET.fromstring(str(DRAWN["dots"]("x"))).iter() if element.text]
    assert "own" in texts and '<other> & "quoted"' in texts and "set 2" in texts
    texts = [element.text for element in ET.fromstring(str(DRAWN["funnel"]("x"))).iter()]
    assert "filter <b>" in texts and "1,500 (−500)" in texts


def test_a_picture_has_the_same_bytes_whatever_the_users_taste(tmp_path):
    def make():
        figure = Figure(figsize=(3, 1))
        FigureCanvasAgg(figure)
        figure.suptitle("fr", fontweight="bold")
        return figure

    charts.save(make, tmp_path / "a.png")
    with matplotlib.rc_context({"figure.facecolor": "black", "savefig.dpi": 30, "font.family": "serif"}):
        charts.save(make, tmp_path / "b.png")
    content = (tmp_path / "a.png").read_bytes()
    assert content == (tmp_path / "b.png").read_bytes()
    assert content.startswith(b"\x89PNG") and b"tEXt" not in content and b"tIME" not in content
