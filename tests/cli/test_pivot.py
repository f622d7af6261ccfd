"""``psp pivot``: files of bitext in, mined pairs out."""

import json
import subprocess
import sys
import time

import pytest

from psp.cli.main import main

ROWS = [
    ("Oui.", "Yes."),
    ("oui", "Yeah, sure."),
    ("Il pleut.", "It rains."),
    ("il pleut", "It is raining."),
    ("Non", "No"),
]


@pytest.fixture
def bitext(tmp_path):
    path = tmp_path / "films.tsv"
    path.write_text("".join(f"{a}\t{b}\n" for a, b in ROWS), encoding="utf-8")
    return path


def refused(capsys, *arguments):
    with pytest.raises(SystemExit) as ended:
        main(["pivot", *map(str, arguments)])
    assert ended.value.code == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_mined_pairs_are_lines_or_json(bitext, tmp_path, capsys):
    given = ["--bitext", str(bitext), "fr", "en", "--through", "fr"]
    main(["pivot", *given, "--out", str(tmp_path / "new/mined.tsv")])
    said = capsys.readouterr().out
    assert said == "5 pairs of bitext, 3 translations, 2 with several sentences, 2 pairs\n"
    rows = [line.split("\t") for line in (tmp_path / "new/mined.tsv").read_text().splitlines()]
    assert {frozenset(row[:2]) for row in rows} == {
        frozenset(("Yes.", "Yeah, sure.")), frozenset(("It rains.", "It is raining."))
    }  # fmt: skip
    assert {tuple(row[2:]) for row in rows} <= {(one, "films") for one in ("Oui.", "oui", "Il pleut.", "il pleut")}
    main(["pivot", *given, "--out", str(tmp_path / "mined.jsonl")])
    found = [json.loads(line) for line in (tmp_path / "mined.jsonl").read_text().splitlines()]
    assert [list(row) for row in found] == [["source", "target", "shared", "corpora"]] * 2
    assert [[row["source"], row["target"], row["shared"], *row["corpora"]] for row in found] == rows
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_cosines_are_those_of_the_encoder(bitext, small_model, tmp_path, capsys):
    given = ["--bitext", str(bitext), "fr", "en", "--through", "fr", "--encoder", str(small_model)]
    main(["pivot", *given, "--out", str(tmp_path / "all.jsonl")])
    found = [json.loads(line) for line in (tmp_path / "all.jsonl").read_text().splitlines()]
    cosines = [row["cosine"] for row in found]
    least = sum(cosines) / 2  # between the two
    main(["pivot", *given, "--min", str(least), "--out", str(tmp_path / "some.tsv")])
    kept = (tmp_path / "some.tsv").read_text().splitlines()
    assert [float(line.split("\t")[4]) for line in kept] == [one for one in cosines if one >= least]
    assert "1 with a cosine of at least" in capsys.readouterr().out


def test_a_corpus_is_called_as_the_workflow_would_call_it(bitext, tmp_path):
    odd = bitext.rename(tmp_path / "a+b c.tsv")
    main(["pivot", "--bitext", str(odd), "fr", "en", "--through", "fr", "--out", str(tmp_path / "out.jsonl")])
    rows = [json.loads(line) for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert [row["corpora"] for row in rows] == [["a-b-c"]] * 2


def test_two_languages_give_bitext(bitext, tmp_path):
    german = tmp_path / "buch.tsv"
    german.write_text("Ja\toui\nNein\tNon\nEs regnet\tIl pleut\n")
    main([
        "pivot", "--bitext", str(german), "de", "fr", "--bitext", str(bitext), "fr", "en", "--through", "fr",
        "--out", str(tmp_path / "de-en.tsv"),
    ])  # fmt: skip
    rows = [line.split("\t") for line in (tmp_path / "de-en.tsv").read_text().splitlines()]
    assert sorted(row[0] for row in rows) == ["Es regnet", "Es regnet", "Ja", "Ja", "Nein"]
    assert {row[3] for row in rows} == {"buch+films"}


@pytest.mark.slow
def test_after_kill_9_the_same_command_gives_the_same_file(tmp_path):
    path, out = tmp_path / "big.tsv", tmp_path / "mined.tsv"
    path.write_text("".join(f"phrase {number // 3}\tsentence {number}\n" for number in range(150_000)))
    given = ["pivot", "--bitext", str(path), "fr", "en", "--through", "fr", "--out", str(out)]
    command = [sys.executable, "-c", "from psp.cli.main import main; main()", *given]
    killed = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".mined.tsv.*/**/bucket*")) and killed.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.01)
    killed.kill()
    killed.wait()
    assert not out.exists()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["big.tsv", "mined.tsv"]
    assert len(out.read_text().splitlines()) == 100_000


def test_wrong_input_is_one_line(bitext, tmp_path, capsys):
    out = ["--out", tmp_path / "out.tsv"]
    said = refused(capsys, "--bitext", bitext, "fr", "en", "--through", "de", *out)
    assert "exactly one of the two must be the language of --through, de" in said
    said = refused(capsys, "--bitext", tmp_path / "none.tsv", "fr", "en", "--through", "fr", *out)
    assert "none.tsv: no such file" in said
    said = refused(capsys, "--bitext", bitext, "fr", "en", "--through", "fr", "--min", "0.5", *out)
    assert "needs an encoder" in said
    said = refused(capsys, "--bitext", bitext, "fr", "en", "--through", "fr", "--max-group", "1", *out)
    assert "write 2 or more" in said
    bitext.write_text("oui\tyes\noui\n")
    said = refused(capsys, "--bitext", bitext, "fr", "en", "--through", "fr", *out)
    assert "films.tsv, line 2: 1 columns" in said and "use tabs only between columns" in said
    assert not (tmp_path / "out.tsv").exists()
