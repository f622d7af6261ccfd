"""``psp lexicon``: files of pairs in, a lexicon out."""

from __future__ import annotations

from pathlib import Path

import pytest

from psp.cli.main import main

ROWS = [("the big dog barks", "the large dog barks", "0.9"), ("a large cat", "a big cat", "0.8"), ("far", "off", "0.1")]


@pytest.fixture
def pairs(tmp_path: Path) -> Path:
    path = tmp_path / "pairs.tsv"
    path.write_text("".join("\t".join(row) + "\n" for row in ROWS))
    return path


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["lexicon", *map(str, arguments)])
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_lexicon_and_its_scores(pairs, tmp_path, capsys):
    words = tmp_path / "words.txt"
    words.write_text("big\tlarge\t9\r\ndog\tcat\t3\r\nbig\tdog\t1\r\nfar\tlarge\t0\r\n")
    simlex = tmp_path / "other.txt"
    simlex.write_text("word1\tword2\tPOS\tSimLex999\t1\t2\t3\t4\t5\t6\nbig\tlarge\tA\t9\t1\t2\t3\t4\t5\t6\n")
    out = tmp_path / "new/lexicon.tsv"
    given = [str(pairs), "--out", str(out), "--min-count", "2", "--words", str(words), f"simlex:{simlex}"]
    main(["lexicon", *given])
    said = capsys.readouterr().out.splitlines()
    lines = out.read_text().splitlines()
    assert lines[0] == "u\tv\tcount\tcross\tadjusted" and lines[1].startswith("big\tlarge\t2\t")
    assert said[0] == f"3 pairs of sentences, {len(lines) - 1} of words"
    assert said[1].startswith("words, cross, all 4: Spearman ") and len(said) == 13
    assert said[-1].startswith("other, adjusted, unsmoothed, covered 1: no correlation (fewer than two pairs)")
    main(["lexicon", str(pairs), str(pairs), "--out", str(out), "--min-count", "2", "--min-score", "0.85"])
    assert capsys.readouterr().out.startswith("2 pairs of sentences, ")
    main(
        [
            "lexicon",
            str(pairs),
            "--bitext",
            "--out",
            str(out),
            "--min-count",
            "1",
            "--within-length",
            "0",
            "--stop-top",
            "1",
        ]
    )
    capsys.readouterr()
    assert out.read_text().startswith("u\tv\tcount\tcross\n")


def test_what_cannot_be_is_one_line(pairs, tmp_path, capsys):
    given = [pairs, "--out", tmp_path / "out.tsv"]
    assert refused(capsys, *given).endswith(
        "lexicon.min_count is 10, but no word occurs so often in the pairs within the limits; write a lower one"
    )
    assert "--min-count 0: must be a whole number, at least 1" in refused(capsys, *given, "--min-count", 0)
    assert "--smoothing 0.0: must be a number, above 0" in refused(capsys, *given, "--smoothing", 0)
    assert "--words: compares words of one language" in refused(capsys, *given, "--bitext", "--words", pairs)
    assert "--words: two files have the same name" in refused(capsys, *given, "--words", pairs, f"simlex:{pairs}")
    assert "no such file" in refused(capsys, tmp_path / "none.tsv", "--out", tmp_path / "out.tsv")
    assert "the score '9' is not" not in refused(capsys, *given, "--min-score", 5)
    assert not (tmp_path / "out.tsv").exists()
