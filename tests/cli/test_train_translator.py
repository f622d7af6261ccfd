"""``psp train-translator``: files of pairs in, a translator out."""

import json

import pytest

from psp.cli.main import main
from psp.inference.translation.load import load_translator, trained_settings
from tests.training.translator.conftest import ENGLISH, TINY, sentences, write_pairs

SETTINGS = [f"{key}={json.dumps(value)}" for key, value in {**TINY, "steps": 40}.items()]


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["train-translator", *map(str, arguments)])
    assert ended.value.code == 1
    return capsys.readouterr().err.splitlines()[-1]


def test_files_become_a_translator_with_scores_by_file(tmp_path, capsys):
    rows = sentences(800)
    files = [write_pairs(tmp_path / "one.tsv", rows[:500]), write_pairs(tmp_path / "two.tsv", rows[400:])]
    out = tmp_path / "fr-en"
    given = [*files, "--languages", "fr", "en", "--out", out, "--threads", "1"]
    main(["train-translator", *map(str, given), "--set", *SETTINGS, "vocab_size=60", 'heldout={"one": 20, "rest": 9}'])
    said = capsys.readouterr().out.splitlines()
    assert said[0].startswith(f"{out}: trained for 40 steps on ")
    assert said[1].startswith("one: 20 pairs, BLEU ")
    assert said[2].startswith("rest: 9 pairs, BLEU ")
    assert said[3].startswith("by sacrebleu: nrefs:1|case:mixed")
    report = json.loads((tmp_path / "fr-en-train/translator.json").read_text())
    assert list(report["sets"]["rest"]["corpora"]) == ["two"]
    counts = json.loads((tmp_path / "fr-en-train/heldout.json").read_text())
    assert [one["pairs"] for one in counts["corpora"]] == [500, 300]  # what both have is the first's
    ((text, *_),) = load_translator(trained_settings(out)).translate([rows[0][0]])[0]
    assert set(text.split()) <= set(ENGLISH.split())
    line = refused(capsys, *given, "--set", *SETTINGS)
    assert (
        line
        == f"error: {out}: holds a finished model (config.json); name another folder, or write --force to replace it"
    )


def test_bad_input_is_one_line(tmp_path, capsys):
    few, out = write_pairs(tmp_path / "few.tsv", sentences(40)), tmp_path / "out"
    ours = ["--languages", "fr", "en", "--out", out]
    assert "no such file" in refused(capsys, tmp_path / "none.tsv", *ours)
    assert "too few to train a translator on" in refused(capsys, few, *ours)
    assert "translator.heldout: many is not a corpus" in refused(capsys, few, *ours, "--set", 'heldout={"many": 3}')
    assert "allowed is a mapping" in refused(capsys, few, *ours, "--set", "heldout=3")
    assert "translator.layers: no such key" in refused(capsys, few, *ours, "--set", "layers=3")
    assert "two files are named few" in refused(capsys, few, few, *ours)
    assert not out.exists()
