"""Pair files, vocabularies, a full disk; plain references: of shingles, similarity, deduplication and its order."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import xxhash
from hypothesis import strategies as st

from psp.pairs.mix import mix
from psp.text.keys import normalised_key
from psp.text.words import clean
from tests.conftest import train_sentencepiece


def plain(text):
    """The runs of three characters of a text's key; a shorter key is one run itself."""
    key = normalised_key(text)
    return {key[start : start + 3] for start in range(max(1, len(key) - 2))} - {""}


def numbers(pair):
    """The shingles of a pair, the plain way."""
    found = set()
    for side, text in enumerate(pair):
        for run in plain(text):
            first, second, third = (*map(ord, run), 0, 0)[:3]
            found.add(first << 43 | second << 22 | third << 1 | side)
    return found


def similarity(a, b):
    """The share of their shingles that two pairs have in common."""
    a, b = numbers(a), numbers(b)
    return len(a & b) / len(a | b)


# Few characters, so that pairs collide; and those that break naive readers, casers and hashers of text.
ODD = "aAbBsSK ſßKİﬁıς.-7\u2028\u0085\r\0\x1c\u00a0éЖж中\u0301😀"
side = st.text(st.sampled_from(ODD), min_size=1, max_size=3).map(clean).filter(bool)
pair = st.tuples(side, side)
pairs = st.lists(pair, max_size=40)
SHARDS = (1, 2, 7, 64, None)


def write(path: Path, rows: list[tuple[str, ...]]) -> Path:
    path.write_bytes("".join("\t".join(row) + "\n" for row in rows).encode())
    return path


def read(path: Path) -> list[tuple[str, ...]]:
    lines = path.read_bytes().split(b"\n")
    assert lines.pop() == b""
    return [tuple(line.decode().split("\t")) for line in lines]


def order(row: tuple[str, ...], seed: int) -> bytes:
    return xxhash.xxh3_128_digest(f"{row[0]}\t{row[1]}".lower().encode(), seed)


def reference(rows: list[tuple[str, ...]], seed: int) -> list[tuple[str, ...]]:
    first: dict[tuple[str, str], tuple[str, ...]] = {}
    for row in rows:
        first.setdefault((row[0].lower(), row[1].lower()), row)
    return sorted(first.values(), key=lambda row: order(row, seed))


def run_mix(
    corpora: list[list[tuple[str, ...]]], folder: Path, **settings_: object
) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]], dict]:
    arguments = {"heldout_pairs": 0, "seed": 1, **settings_}
    inputs = [(f"c{number}", write(folder / f"c{number}.tsv", rows)) for number, rows in enumerate(corpora)]
    summary = mix(inputs, folder / "mix.tsv", folder / "heldout.tsv", folder / "mix.json", **arguments)
    assert json.loads((folder / "mix.json").read_text()) == summary
    return read(folder / "mix.tsv"), read(folder / "heldout.tsv"), summary


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two vocabularies; without the word mark in front a side can be of unknown pieces alone."""
    folder = tmp_path_factory.mktemp("sp")
    train_sentencepiece(folder / "marked.model")
    train_sentencepiece(folder / "bare.model", add_dummy_prefix=False)
    return folder


@pytest.fixture
def model(models: Path) -> Path:
    return models / "marked.model"


def run_child(code: str, *arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


#: No file may grow past this size: writing fails as on a full disk, with another error number.
FULL_DISK = """
import os, resource, sys
from pathlib import Path
from psp.core.errors import DataError
from psp.pairs.dedupe import dedupe_corpus
from psp.pairs.mix import mix
from psp.pairs.neardup import remove_near_duplicates
from psp.pairs.store import write_store
limit, folder = int(sys.argv[1]), Path(sys.argv[2])
os.chdir(folder)
resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
o, r, d = map(Path, "ord")
try:
    exec(sys.argv[3])
except DataError as error:
    print(error)
"""


def on_a_full_disk(folder: Path, limit: int, work: str) -> None:
    """Statements that write into a folder, from what is there, end in one clear error and leave nothing."""
    before = sorted(folder.iterdir())
    child = run_child(FULL_DISK, limit, folder, work)
    assert (child.returncode, child.stderr) == (0, "")  # HDF5 by itself ends in a segmentation fault here
    assert "cannot be written: File too large; free space" in child.stdout and child.stdout.count("\n") == 1
    assert sorted(folder.iterdir()) == before
