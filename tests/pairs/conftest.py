"""Pair files and plain references: of shingles and similarity, of deduplication and its order."""

from __future__ import annotations

import json
from pathlib import Path

import xxhash
from hypothesis import strategies as st

from psp.pairs.mix import mix
from psp.text.keys import normalised_key
from psp.text.words import clean


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
