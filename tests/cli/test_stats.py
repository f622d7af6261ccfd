"""``psp stats``: files of pairs in; tables, JSON and sheets out."""

import gzip
import json

import pytest

from psp.cli.main import main
from tests.conftest import PAIRS, write_pair_file


@pytest.fixture
def scored(tmp_path):
    path = tmp_path / "scored.tsv.gz"
    lines = "".join(f"{a}\t{a} too\t{number / 240}\r\n" for number, (a, _) in enumerate(PAIRS))
    path.write_bytes(gzip.compress(lines.encode()))
    return path


@pytest.fixture
def bitext(tmp_path):
    return write_pair_file(tmp_path / "bitext.tsv", PAIRS)


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["stats", *map(str, arguments)])
    assert ended.value.code == 1
    *_, line = capsys.readouterr().err.splitlines()
    return line


def test_a_table_json_markdown_and_a_sheet(scored, bitext, tmp_path, capsys):
    out = {name: tmp_path / f"out/stats.{name}" for name in ("json", "markdown", "sheet")}
    options = [str(part) for name, path in out.items() for part in (f"--{name}", path)]
    main(["stats", str(scored), str(bitext), *options, "--per-range", "4", "--pairs", "100", "--samples", "1"])
    said = capsys.readouterr().out
    assert said.startswith("corpus ") and f"{out['sheet']}: 24 pairs to judge" in said
    report = json.loads(out["json"].read_text())
    assert [corpus["label"] for corpus in report["corpora"]] == ["scored.tsv.gz", "bitext.tsv"]
    assert report["model"] is None and report["settings"]["pairs"] == 100
    assert out["markdown"].read_text().startswith("# Statistics of scored.tsv.gz, bitext.tsv\n")
    assert len(out["sheet"].read_text().splitlines()) == 25
    assert refused(capsys, scored, "--sheet", out["sheet"]).endswith(
        "stats.sheet: already exists; name another file, or remove it first"
    )


def test_labels_come_back(scored, tmp_path, capsys):
    main(["stats", str(scored), "--sheet", str(tmp_path / "sheet.tsv"), "--per-range", "2"])
    header, *rows = (tmp_path / "sheet.tsv").read_text().splitlines()
    sheets = []
    for name in ("ann", "bob"):
        sheets += ["--labels", str(tmp_path / f"{name}.tsv")]
        lines = [f"{row.rstrip()}\t{place % 3 + 1}\t3" for place, row in enumerate(rows)]
        (tmp_path / f"{name}.tsv").write_text("\ufeff" + "\r\n".join([header, *lines]))
    capsys.readouterr()
    main(["stats", str(scored), *sheets])
    said = capsys.readouterr().out
    assert "ann and bob" in said and "1.000" in said
    (tmp_path / "bob.tsv").write_text(f"{header}\n{rows[0].rstrip()}\t5\t1\n")
    assert "bob.tsv, line 2: paraphrase is '5'; write 1, 2 or 3" in refused(capsys, scored, *sheets)


def test_languages_idf_and_parses(bitext, tmp_path, capsys):
    for language, side in (("en", 0), ("fr", 1)):
        (tmp_path / f"{language}.txt").write_text("".join(f"{pair[side]}\n" for pair in PAIRS))
    (tmp_path / "trees").write_text("(S (NP a) (VP b))\n" * len(PAIRS))
    idf = ["--idf-from", str(tmp_path / "en.txt"), "--idf-from", str(tmp_path / "fr.txt")]
    parses = ["--parses", str(tmp_path / "trees")]
    main(["stats", str(bitext), "--languages", "en", "fr", *idf, *parses, "--json", str(tmp_path / "s.json")])
    (corpus,) = json.loads((tmp_path / "s.json").read_text())["corpora"]
    assert [side["idf_from"]["file"] for side in corpus["sides"]] == ["en.txt", "fr.txt"]
    assert corpus["parses"] == {"file": "trees", "types": 1, "entropy": 0.0} and corpus["overlap"] is None
    assert "the sides are in two languages" in capsys.readouterr().out
    (tmp_path / "trees").write_text("(S (NP a) (VP b))\n" * (len(PAIRS) - 1) + "(S (NP a)\n")
    out = tmp_path / "not.json"
    assert f"trees, line {len(PAIRS)}: brackets are not balanced" in refused(capsys, bitext, *parses, "--json", out)
    assert not out.exists()


def test_bad_options_and_files(scored, bitext, tmp_path, capsys):
    assert "--ranges: 1, 0: the ends of ranges" in refused(capsys, scored, "--ranges", 1, 0)
    assert "bitext.tsv: has no scores" in refused(capsys, bitext, "--ranges", 0, 1)
    assert refused(capsys, scored, "--pairs", 0) == "error: --pairs 0: is not a whole number, at least 1"
    assert "--idf-from: given 1 times; give it twice" in refused(
        capsys, bitext, "--languages", "en", "fr", "--idf-from", bitext
    )
    assert "--parses: 1 for 2 files" in refused(capsys, scored, bitext, "--parses", bitext)
    assert "is given twice; leave one out" in refused(capsys, scored, scored)
    (tmp_path / "empty.tsv").touch()
    assert "empty.tsv: no pairs; write lines" in refused(capsys, tmp_path / "empty.tsv")
    assert "none.tsv: cannot be read: No such file or directory" in refused(capsys, tmp_path / "none.tsv")
