"""A translator's scores as a table."""

from __future__ import annotations

from psp.cli.main import main
from psp.core.files import write_json
from psp.report import task_table

SCORED = {"bleu": 30.25, "chrf": 50, "lower_bleu": 31, "lower_chrf": 51}
JUDGED = {**SCORED, "copies": 3, "empty": 1, "overlong": 1200}
RESULT = {
    "languages": {"source": "fr", "target": "en"}, "steps": 14000, "pairs_seen": 700_000, "ended_by": "minutes",
    "parameters": 5_700_000, "data": {"pairs": 500_000}, "best": {"step": 13_500, "bleu": 33.1},
    "development": {"pairs": 500}, "settings": {"beam": 5}, "signatures": {"bleu": "B", "chrf": "C"},
    "sets": {
        "Tatoeba": {"pairs": 2000, "float32": {**JUDGED, "bleu": 30.5}, "int8": JUDGED, "corpora": {"Tatoeba": {}}},
        "rest": {
            "pairs": 1000, "float32": JUDGED, "int8": JUDGED,
            "corpora": {name: {"pairs": 500, "float32": SCORED, "int8": SCORED} for name in ("One", "Two")},
        },
    },
}  # fmt: skip


def test_each_set_and_each_of_its_corpora_has_a_row():
    text = task_table.translator(RESULT, "markdown")
    assert "| Tatoeba | 2,000 | 30.2 | 50.0 | 31.0 | 51.0 | 30.5 | 3 | 1 | 1,200 |" in text
    assert "| rest: Two | 500 | 30.2 | 50.0 | 31.0 | 51.0 | 30.2 |  |  |  |" in text
    assert "Tatoeba: " not in text
    assert text.startswith("fr to en: 14,000 steps on 700,000 pairs of 500,000 (ended by minutes), 5,700,000 weights")


def test_psp_show_prints_it(tmp_path, capsys):
    write_json(tmp_path / "translator.json", RESULT)
    main(["show", str(tmp_path)])
    assert "rest: One" in capsys.readouterr().out
