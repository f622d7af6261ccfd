"""Figures of others: each with its source and date."""

import pytest
import yaml

from psp.cli.main import main
from psp.core.errors import DataError
from psp.report.reported import load


def test_ours_have_sources_dates_and_plausible_figures():
    found = load()
    assert len(found) > 60
    assert all(one.source and one.date and one.note and one.figures for one in found)
    shares = [value for one in found for name, value in one.figures.items() if not name.startswith("speed/")]
    assert all(0 < value < 100 for value in shares)
    by = {(one.name, figure): value for one in found for figure, value in one.figures.items()}
    assert by["P-SP (en)", "sts"] == 74.6
    assert by["LaBSE", "tatoeba/fra-eng"] == 4.0
    assert by["WORD, TRIGRAM, concatenated, 600", "sts"] == 73.3
    # A mean that the source gives is the mean of what is quoted beside it.
    years = [f"sts/{year}" for year in range(2012, 2017)]
    for one in found:
        if "sts" in one.figures and set(years) <= one.figures.keys():
            mean = sum(one.figures[year] for year in years) / 5
            assert one.figures["sts"] == pytest.approx(mean, abs=0.11), one.name


GOOD = [{"source": "A paper", "date": 2020, "systems": [{"name": "x", "figures": {"sts": 70}}]}]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"source": None}, "item 1 has no `source`; quoted figures must say where they are from"),
        ({"source": " "}, "item 1 has no `source`"),
        ({"date": None}, "item 1 has no `date`"),
        ({"systems": []}, r"item 1 \(A paper\) has no `systems`"),
        ({"systems": [{"name": "x"}]}, "a system needs `name` and `figures`"),
        ({"systems": [{"name": "x", "figures": {"sts": "70"}}]}, "item 1, x: sts is '70', not a number"),
        ({"systems": [{"name": "x", "figures": {"sts": float("nan")}}]}, "sts is nan, not a number"),
    ],
)
def test_a_figure_without_its_source_is_refused(tmp_path, change, said):
    path = tmp_path / "mine.yaml"
    path.write_text(yaml.safe_dump(GOOD))
    assert load(path)[0].figures == {"sts": 70.0} and load(path)[0].date == "2020"
    path.write_text(yaml.safe_dump([GOOD[0] | change]))
    with pytest.raises(DataError, match=rf"mine\.yaml: .*{said}"):
        load(path)


@pytest.mark.parametrize("text", ["a: 1", "- 1", "[", "\0"])
def test_other_files_are_refused(tmp_path, text):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(DataError, match=r"mine\.yaml: "):
        load(tmp_path / "mine.yaml")


def test_they_are_shown_beside_a_comparison_only(tmp_path, capsys):
    (tmp_path / "quantized.json").write_text("{}")
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path), "--quoted"])
    assert "has no eval.json, beside which figures are quoted" in capsys.readouterr().err
