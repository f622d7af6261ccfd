"""``psp score``, against the library."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from psp.cli.main import main
from tests.conftest import PAIRS, odd_text

column = odd_text.map(lambda text: text.replace("\n", " ").replace("\t", " "))


def expected(model, lines):
    pairs = [tuple(line.split("\t")[:2]) for line in lines]
    written = [f"{line}\t{cosine:.4f}\n" for line, cosine in zip(lines, model.score_raw_text(pairs), strict=True)]
    return re.sub(r"\r(\t[^\t\n]*)\n", "\\1\r\n", "".join(written)).encode()


def score(model, path, *options):
    main(["score", str(model), str(path), *options])


@pytest.mark.parametrize("jobs", ["1", "2"])
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.one_of(st.tuples(column, column), st.lists(column, min_size=2, max_size=5)), max_size=30))
def test_lines_are_kept_and_have_the_librarys_cosine(small_model, model, tmp_path, capfdbinary, jobs, rows):
    lines = ["\t".join(row) for row in rows]
    (tmp_path / "pairs.tsv").write_bytes("\n".join([*lines, ""]).encode() if lines else b"")
    score(small_model, tmp_path / "pairs.tsv", "--jobs", jobs)
    assert capfdbinary.readouterr().out == expected(model, lines)


def test_a_line_that_ends_in_cr_lf_does_so_with_its_score(small_model, tmp_path, capfdbinary):
    for name, end in (("unix.tsv", b"\n"), ("windows.tsv", b"\r\n")):
        (tmp_path / name).write_bytes(end.join([b"the cat\tbread", b"bread\tthe cat\tmore", b""]))
        score(small_model, tmp_path / name)
    whole = capfdbinary.readouterr().out
    unix, windows = whole[: len(whole) // 2 - 1], whole[len(whole) // 2 - 1 :]
    assert windows == unix.replace(b"\n", b"\r\n") and unix.count(b"\n") == 2


def test_the_share_of_unknown_text_is_said_once(small_model, tmp_path, capfd):
    lines = ["the cat\tbread", "собака спит\t今天天气很好", "bread 日\tbread\t日日日"] + ["the cat\tbread"] * 9000
    (tmp_path / "pairs.tsv").write_text("\n".join(lines))
    score(small_model, tmp_path / "pairs.tsv")
    out, said = capfd.readouterr()
    assert out.splitlines()[1] == "собака спит\t今天天气很好\t0.0000"
    assert said.count("\n") == 1 and f"{tmp_path}/pairs.tsv: less than 1% of its text is unknown to the model;" in said
    assert "; 2 of" in said and " texts are entirely unknown, the first in line 2, whose vectors are zeros (by " in said
    (tmp_path / "pairs.tsv").write_text("the cat\tbread\n")
    score(small_model, tmp_path / "pairs.tsv")
    assert capfd.readouterr().err == ""


LINES = ["\t".join(pair) for pair in PAIRS] * 40


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("line", [b"one column", b"", b"a\tb\xff"])
def test_a_bad_line_ends_it_after_those_before_it(small_model, model, tmp_path, psp_command, jobs, line):
    good = "\n".join(LINES).encode() + b"\n"
    (tmp_path / "pairs.tsv").write_bytes(good + line + b"\n" + good)
    result = psp_command.run("score", small_model, tmp_path / "pairs.tsv", "--jobs", jobs)
    assert result.stdout == expected(model, LINES)
    what = "not UTF-8" if b"\xff" in line else "has one column; write two sentences separated by a tab\n"
    said = result.stderr.decode()
    assert said.startswith(f"error: {tmp_path}/pairs.tsv, line {len(LINES) + 1}: {what}") and said.count("\n") == 1
    assert result.returncode == 1


def test_a_bad_first_line_prints_nothing(small_model, psp_command):
    result = psp_command.run("score", small_model, text=b"one column\na\tb\n")
    said = "error: standard input, line 1: has one column; write two sentences separated by a tab\n"
    assert (result.returncode, result.stdout, result.stderr.decode()) == (1, b"", said)


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_closed_pipe_is_no_error(small_model, tmp_path, psp_command, jobs):
    (tmp_path / "pairs.tsv").write_bytes("\n".join(LINES * 20).encode())
    command = psp_command.start("score", small_model, tmp_path / "pairs.tsv", "--jobs", jobs)
    assert command.stdout.readline().startswith(b"the cat eats an apple here\t")
    command.stdout.close()
    error = command.stderr.read()
    assert (command.wait(30), error) == (128 + signal.SIGPIPE, b"")


def test_a_full_disk(small_model, psp_command):
    with Path("/dev/full").open("wb") as full:
        result = psp_command.run("score", small_model, text=b"a\tb\n", stdout=full)
    said = "error: standard output: cannot be written: No space left on device\n"
    assert (result.returncode, result.stderr.decode()) == (1, said)
