"""Variants side by side: the figures of their seeds, from files as a run writes them."""

from typing import Any

import pytest

from psp.cli.main import main
from psp.core.files import write_json
from psp.evaluation.seeds import summary
from psp.report.comparison import variants as table


def made_metrics(sts: list[float], errors: list[float], **more: list[Any]) -> dict[str, Any]:
    """A variant's figures, with values by seed; Tatoeba's are those of both directions."""
    values = {
        "sts": sts, "sts/spearman": [value - 1 for value in sts],
        "tatoeba/fra-eng": errors, "tatoeba/eng-fra": errors, "tatoeba/fra": errors, "tatoeba": errors,
        "pairs_seen": [1_719_948] * len(sts), "seconds": [90.4] * len(sts),
        "pairs_per_second": [21_000.5] * len(sts), **more,
    }  # fmt: skip
    return {name: summary(found) for name, found in values.items()}


def made_up() -> dict[str, Any]:
    """A variants.json of made-up figures: three variants, the last with one seed, and two systems without training."""
    return {
        "format": 1,
        "model": "fr",
        "machine": {"processor": "An Abacus", "cores": 2, "versions": {"psp": "0.1.0", "torch": "2.0"}},
        "variants": [
            {
                "name": "psp", "recipe": "psp", "settings": {}, "seeds": [1, 2, 3], "threads": [2, 2, 2],
                "figures": made_metrics([69.0, 69.5, 69.1], [6.0, 6.2, 5.8]),
                "differences": {},
            },
            {
                "name": "no-zipf", "recipe": "psp", "settings": {"init": "normal"}, "seeds": [1, 2, 3],
                "threads": [2, 2, 2], "figures": made_metrics([66.0, 66.2, 66.1], [7.0, None, 7.1]),
                "differences": {"sts": {"difference": -3.1, "interval": [-3.456, -2.7]}},
            },
            {
                "name": "paper", "recipe": "paper", "settings": {"init": "normal", "epochs": 25}, "seeds": [1],
                "threads": [2], "figures": made_metrics([65.25], [9.0]),
                "differences": {"tatoeba/fra-eng": {"difference": 0.5, "interval": None}},
            },
        ],
        "grid": None,
        "systems": {
            "untrained": {"figures": {"sts": 52.123, "tatoeba": 80.0}, "differences": {}},
            "untrained+sif": {
                "figures": {"sts": 64.0, "tatoeba/fra-eng": None},
                "differences": {"sts": {"difference": None, "interval": None}},
            },
        },
    }  # fmt: skip


def cells(text):
    """The rows of a Markdown table, by their first cell."""
    rows = [line.strip("| ").split(" | ") for line in text.split("\n") if line.startswith("| ")]
    return {row[0]: dict(zip(rows[0], row, strict=True)) for row in rows[2:]}


def test_the_table_has_a_line_for_each_variant_and_system():
    result = made_up()
    rows = cells(table(result)[0].write("markdown"))
    assert list(rows) == ["psp", "no-zipf", "no-zipf - psp", "paper", "paper - psp", "untrained", "untrained+sif"]
    assert rows["psp"] == {
        "variant": "psp", "seeds": "1, 2, 3", "STS 2012-16": "69.20 ± 0.26", "Spearman": "68.20 ± 0.26",
        "fra-eng": "6.00 ± 0.20", "eng-fra": "6.00 ± 0.20",
        "pairs seen": "1,719,948", "training, s": "90", "pairs/s": "21,000",
    }  # fmt: skip
    assert rows["no-zipf"]["fra-eng"] == "-"  # a seed has none
    assert rows["no-zipf - psp"]["STS 2012-16"] == "-3.10 [-3.46, -2.70]"
    assert rows["no-zipf - psp"]["fra-eng"] == "-" and rows["paper - psp"]["fra-eng"] == "+0.50"
    assert rows["paper"]["STS 2012-16"] == "65.25"
    assert (rows["untrained"]["STS 2012-16"], rows["untrained"]["training, s"]) == ("52.12", "-")
    assert rows["untrained+sif"]["fra-eng"] == "-"


def test_the_notes_tell_settings_threads_and_machine():
    text = table(made_up())[0].write()
    lines = text.split("\n")
    assert lines[0].split("  ")[0] == "variant" and set(lines[1]) <= {"-", " "}
    assert lines[2].startswith("psp ") and "69.20 ± 0.26" in lines[2]
    assert "no-zipf: init normal" in lines and "paper: recipe paper, init normal, epochs 25" in lines
    assert "Training with 2 threads; An Abacus, 2 cores; psp 0.1.0, torch 2.0." in text


def test_the_notes_tell_which_variant_was_trained_with_other_threads():
    result = made_up()
    result["variants"][1]["threads"] = [1, 1, 1]
    text = table(result)[0].write()
    assert "no-zipf: init normal, training with 1 thread\n" in text and "Training with 2 threads; An Abacus" in text


def test_with_several_languages_there_is_a_column_for_each():
    result = made_up()
    for one in result["variants"]:
        one["figures"]["tatoeba/deu"] = summary([3.0, 4.0])
    rows = cells(table(result)[0].write("markdown"))
    assert (
        rows["psp"]["Tatoeba error %"] == "6.00 ± 0.20"
        and rows["psp"]["French"] == "6.00 ± 0.20"
        and rows["psp"]["German"] == "3.50 ± 0.71"
    )
    assert "fra-eng" not in rows["psp"]


def test_show_prints_what_is_there(tmp_path, capsys):
    with pytest.raises(SystemExit):
        main(["show", str(tmp_path)])
    assert "no eval.json, variants.json, quantized.json, translator.json or tasks" in capsys.readouterr().err
    write_json(tmp_path / "variants.json", made_up())
    main(["show", str(tmp_path), "--format", "markdown"])
    assert cells(capsys.readouterr().out)["psp"]["STS 2012-16"] == "69.20 ± 0.26"
    main(["show", str(tmp_path)])
    assert capsys.readouterr().out.startswith("variant ")


def test_the_points_of_a_grid_are_a_table_of_their_own_the_best_first():
    point = {"epoch": 2, "steps": 30}
    points = [
        {"name": f"dropout={value}", "settings": {"dropout": value}, "score": 70 + value} | point for value in (0, 0.1)
    ]
    _, found = table({**made_up(), "grid": {"points": points, "best": "dropout=0.1"}})
    lines = found.write().splitlines()
    assert [line.split() for line in lines[2:4]] == [["0.1", "70.10", "2"], ["0", "70.00", "2"]]
    assert lines[-1] == "The grid: validation scores, one training a point; the best is dropout=0.1."
