"""Bitext turned into paraphrases, block by block."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psp.core.errors import DataError
from psp.inference.translation.backtranslate import back_translate
from psp.inference.translation.base import Translator
from psp.inference.translation.load import load_translator
from psp.models.cosines import cosines
from tests.inference.translation.conftest import sentences


class Letters:
    """An encoder: how often each letter stands in a text."""

    segmented = False

    def embed(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[text.count(chr(letter)) for letter in range(97, 123)] for text in texts], np.float32)


LETTERS = Letters()
ABOUT = {"encoder": "letters"}


def upper(command: str = "tr a-z A-Z", **settings: Any) -> Translator:
    return load_translator({"command": command, **settings})


def bitext(path: Path, count: int, seed: int = 1) -> list[tuple[str, str]]:
    rows = list(zip(sentences(count, seed), sentences(count, seed + 100), strict=True))
    path.write_text("".join(f"{a}\t{b}\n" for a, b in rows))
    return rows


def made(folder: Path, translator: Translator, size: int = 10, column: int = 1) -> tuple[list[list[str]], dict]:
    out, report = folder / "out.tsv", folder / "out.json"
    back_translate(
        [("C", folder / "bitext.tsv", column)],
        out,
        report,
        translator=translator,
        encoder=LETTERS,
        cache=folder / "cache",
        about=ABOUT,
        block_lines=size,
    )
    return [line.split("\t") for line in out.read_text().splitlines()], json.loads(report.read_text())


@pytest.mark.parametrize("column", [0, 1])
def test_one_side_stays_and_the_other_is_translated_and_scored(tmp_path: Path, column: int) -> None:
    rows = bitext(tmp_path / "bitext.tsv", 25)
    found, report = made(tmp_path, upper(r"sed 's/.*/\L&!\t-0.25/'", scores="column"), column=column)
    assert [row[:2] for row in found] == [[row[1 - column], f"{row[column].lower()}!"] for row in rows]
    vectors = [LETTERS.embed([row[side] for row in found]) for side in (0, 1)]
    assert [float(row[2]) for row in found] == pytest.approx(cosines(*vectors), abs=5e-5)
    assert {row[3] for row in found} == {"-0.2500"}
    assert report["corpora"]["C"] == {"lines": 25, "empty": 0, "copies": 0, "overlong": 0, "cut": 0, "kept": 25}


def test_the_size_of_blocks_decides_nothing(tmp_path: Path) -> None:
    bitext(tmp_path / "bitext.tsv", 30)
    rows, _ = made(tmp_path, upper())
    for size in (1, 7, 30, 100):
        assert made(tmp_path, upper(), size)[0] == rows
    assert len(rows[0]) == 3  # a command without scores gives no fourth column


def test_copies_and_overlong_translations_are_counted_and_empty_ones_left_out(tmp_path: Path) -> None:
    class Odd(Translator):
        @property
        def identity(self) -> dict[str, Any]:
            return {"odd": 1}

        def translate(self, texts: Sequence[str], *, n: int = 1) -> list:
            from psp.inference.translation import Hypothesis

            answers = [texts[0], "", " ".join(["again"] * 100)]
            return [[Hypothesis(text, -1.0)] for text in answers]

    bitext(tmp_path / "bitext.tsv", 3)
    rows, report = made(tmp_path, Odd())
    assert len(rows) == 2
    assert report["corpora"]["C"] == {"lines": 3, "empty": 1, "copies": 1, "overlong": 1, "cut": 0, "kept": 2}


def test_a_failure_is_tried_once_more_and_names_the_line(tmp_path: Path) -> None:
    rows = bitext(tmp_path / "bitext.tsv", 30)
    counter = tmp_path / "calls"
    once = f"test -e {counter} || {{ touch {counter}; exit 1; }}; cat"
    found, _ = made(tmp_path, upper(once))
    assert len(found) == 30
    place = next(place for place, row in enumerate(rows) if place >= 10 and row[1] not in [one[1] for one in rows[:10]])
    always = f"sed 's/^{rows[place][1]}$//'"
    said = f"bitext.tsv, line {place + 1}: `sed .* wrote an empty line, twice"
    with pytest.raises(DataError, match=said):
        made(tmp_path, upper(always))
    # What was finished before is kept for the next run, of the same translator.
    blocks = sorted((tmp_path / "cache").rglob("*.json"))
    assert len(blocks) == 4  # three of `once`
    with pytest.raises(DataError, match=r"line 3: .* wrote 2 lines for 10, twice"):
        made(tmp_path, upper("head -n 2"))
    assert sorted((tmp_path / "cache").rglob("*.json")) == blocks


def test_the_same_texts_and_translator_are_translated_once_whatever_scores_them(tmp_path: Path) -> None:
    bitext(tmp_path / "bitext.tsv", 20)
    calls = tmp_path / "calls"
    command = f"echo >> {calls}; tr a-z A-Z"
    rows, _ = made(tmp_path, upper(command))
    assert len(calls.read_text()) == 2

    class Half:
        segmented = False

        def embed(self, texts: Sequence[str]) -> np.ndarray:
            return LETTERS.embed(texts) + 1

    again = tmp_path / "again.tsv"
    sources = [("C", tmp_path / "bitext.tsv", 1)]
    settings = {"cache": tmp_path / "cache", "about": ABOUT, "block_lines": 10}
    back_translate(sources, again, tmp_path / "r.json", translator=upper(command), encoder=Half(), **settings)
    found = [line.split("\t") for line in again.read_text().splitlines()]
    assert [row[:2] for row in found] == [row[:2] for row in rows] and [row[2] for row in found] != [
        row[2] for row in rows
    ]
    assert len(calls.read_text()) == 2
    block = next((tmp_path / "cache").rglob("*.json"))
    block.write_text('{"cut": 0, "translations": []}')
    with pytest.raises(DataError, match=f"{block.name}: 0 translations of .* remove it"):
        made(tmp_path, upper(command))


def test_a_killed_run_loses_one_block_at_most_and_ends_in_the_same_bytes(tmp_path: Path) -> None:
    bitext(tmp_path / "bitext.tsv", 60)
    made(tmp_path, upper())
    wanted = (tmp_path / "out.tsv").read_bytes()
    (tmp_path / "out.tsv").unlink()
    calls = tmp_path / "calls"
    # The same command to the record, which sleeps as long as the file is there.
    (tmp_path / "slow").touch()
    command = f"echo >> {calls}; test ! -e {tmp_path}/slow || test $(wc -l < {calls}) -lt 4 || sleep 60; tr a-z A-Z"
    script = (
        "from pathlib import Path\n"
        "from tests.inference.translation.test_backtranslate import made, upper\n"
        f"made(Path({str(tmp_path)!r}), upper({command!r}))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script], start_new_session=True)
    deadline = time.monotonic() + 120
    while not calls.exists() or len(calls.read_text()) < 4:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not (tmp_path / "out.tsv").exists()
    assert len(list((tmp_path / "cache").rglob("*.json"))) == 6 + 3  # of made() above, and of the one killed
    (tmp_path / "slow").unlink()
    calls.write_text("")
    made(tmp_path, upper(command))
    assert (tmp_path / "out.tsv").read_bytes() == wanted
    assert len(calls.read_text()) == 3  # blocks 4 to 6


def test_a_sample_is_of_all_sources_and_in_their_order(tmp_path: Path) -> None:
    rows = bitext(tmp_path / "one.tsv", 40), bitext(tmp_path / "two.tsv", 20, seed=7)
    sources = [("One", tmp_path / "one.tsv", 1), ("Two", tmp_path / "two.tsv", 0)]
    wanted = [
        [f"{row[1 - column]}\t{row[column].upper()}" for row in part] for part, column in zip(rows, (1, 0), strict=True)
    ]

    def sampled(count: int | None, seed: int = 1, size: int = 7) -> tuple[list[str], dict]:
        out = tmp_path / "out.tsv"
        report = back_translate(
            sources, out, tmp_path / "out.json", translator=upper(), encoder=LETTERS, cache=tmp_path / "cache",
            about=ABOUT, sample=count, seed=seed, block_lines=size,
        )  # fmt: skip
        return [line.rpartition("\t")[0] for line in out.read_text().splitlines()], report["corpora"]

    found, counts = sampled(30)
    assert len(found) == 30 == counts["One"]["lines"] + counts["Two"]["lines"] and 0 < counts["Two"]["lines"] < 20
    places = iter([*wanted[0], *wanted[1]])
    assert all(line in places for line in found)  # a subsequence
    assert sampled(30, size=1000)[0] == found != sampled(30, seed=2)[0]
    for name in ("one.tsv", "two.tsv"):  # a last line counts without its line feed
        (tmp_path / name).write_bytes((tmp_path / name).read_bytes().removesuffix(b"\n"))
    assert sampled(30)[0] == found and len(sampled(59)[0]) == 59
    assert sampled(None)[0] == sampled(60)[0] == sampled(100)[0] == [*wanted[0], *wanted[1]]


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "bitext.tsv").write_text("a\tb\nonly one\n")
    with pytest.raises(DataError, match=r"bitext.tsv, line 2: 1 column where a pair has 2"):
        made(tmp_path, upper())
    (tmp_path / "bitext.tsv").write_text("")
    with pytest.raises(DataError, match="no translation is left"):
        made(tmp_path, upper())
    assert not (tmp_path / "out.tsv").exists()
