"""Ranking against a plain sort: ties, order of the input, blocks and passes; errors; what the stages around it see."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core import schemas
from psp.core.errors import ConfigError, DataError
from psp.pairs import pair_file, rank
from psp.pairs.dedupe import dedupe_corpus, seed_for
from psp.pairs.rank import find_ranks, rank_corpus, split_corpus, with_scores
from psp.text.words import trigram_overlap, words
from tests.pairs.conftest import side

SCORES = [0.5, 0.25, -3.0, -0.0, 0.0, 1e-300, -1e300, 0.1]
Rows = list[tuple[str, str, float, float]]
rows_of_four = st.lists(st.tuples(side, side, st.sampled_from(SCORES), st.sampled_from(SCORES)), max_size=35)


def line(row: tuple[str, str, float, float], columns: int) -> bytes:
    return "\t".join([*row[:2], *map(repr, row[2:columns])]).encode()


def write(path: Path, rows: Rows, columns: int) -> Path:
    path.write_bytes(b"".join(line(row, columns) + b"\n" for row in rows))
    return path


def value(row: tuple[str, str, float, float], by: str) -> float:
    if by in ("score", "translation"):
        return row[2 if by == "score" else 3]
    if by == "length":
        return (len(row[0].split()) + len(row[1].split())) / 2
    return trigram_overlap(words(row[0].lower()), words(row[1].lower()))


def reference(rows: Rows, by: str, columns: int) -> list[list[bytes]]:
    """The lines of each decile, by a plain sort."""
    seed = seed_for(1, "corpus C")

    def key(row: tuple[str, str, float, float]) -> tuple[float, bytes, bytes]:
        sides = f"{row[0]}\t{row[1]}".lower().encode()
        return value(row, by), xxhash.xxh3_128_digest(sides, seed), line(row, columns)

    ordered = sorted(rows, key=key)
    ends = [decile * len(rows) // 10 for decile in range(11)]
    return [[line(row, min(columns, 3)) for row in ordered[a:b]] for a, b in pairwise(ends)]


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1]


@settings(max_examples=25)
@given(
    rows=rows_of_four,
    by=st.sampled_from(rank.BY),
    deciles=st.sets(st.integers(1, 10), min_size=1),
    block=st.integers(1, 60),
)
def test_deciles_equal_a_plain_sort_for_any_order_and_blocks(tmp_path_factory, rows, by, deciles, block):
    folder = tmp_path_factory.mktemp("rank")
    columns = {"score": 3, "translation": 4}.get(by, 2)
    expected = reference(rows, by, columns)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "BLOCK_BYTES", block)
        for order in range(2):
            shuffled = random.Random(order).sample(rows, len(rows)) if order else rows
            out, report = folder / "out.tsv", folder / "out.json"
            source = write(folder / "in.tsv", shuffled, columns)
            summary = rank_corpus(source, out, report, corpus="C", by=by, deciles=deciles, seed=1)
            assert sorted(lines(out)) == sorted(line for decile in deciles for line in expected[decile - 1])
            assert json.loads(report.read_text()) == summary
            schemas.check(summary, "rank")
            assert [one["pairs"] for one in summary["bounds"]] == list(map(len, expected))
            assert (summary["seen"], summary["kept"]) == (len(rows), len(lines(out)))
    values = sorted(value(row, by) for row in rows)
    kept = iter(values)
    for one in summary["bounds"]:
        mine = [next(kept) for _ in range(one["pairs"])]
        assert (one["low"], one["high"]) == ((mine[0], mine[-1]) if mine else (None, None))


@settings(max_examples=8)
@given(rows=rows_of_four, by=st.sampled_from(rank.BY))
def test_splitting_gives_each_decile_its_pairs(tmp_path_factory, rows, by):
    folder = tmp_path_factory.mktemp("split")
    outs = {decile: folder / f"{decile}.tsv" for decile in range(1, 11)}
    split_corpus(write(folder / "in.tsv", rows, 4), outs, corpus="C", by=by, seed=1)
    expected = reference(rows, by, 4)
    assert [sorted(lines(path)) for path in outs.values()] == list(map(sorted, expected))


@settings(max_examples=25)
@given(st.lists(st.tuples(*[st.sampled_from([0, 1, 2**16, 2**48, 2**64 - 1])] * 3), min_size=1, max_size=30))
def test_ranks_are_those_of_a_plain_sort(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("ranks") / "records"
    np.array(data, np.uint64).tofile(path)
    found = find_ranks(path, len(data), range(len(data)))
    ordered = sorted(data)
    assert found == {place: (record, ordered.index(record)) for place, record in enumerate(ordered)}


def test_length_is_the_mean_of_both_sides_and_overlap_reads_the_filters_settings(tmp_path):
    rows: Rows = [("a b c d a b c", "a b c x a b c", 0, 0), ("a b c d", "a b c e f g h", 0, 0)] * 5
    source = write(tmp_path / "in.tsv", rows, 2)
    arguments = {"corpus": "C", "deciles": [10], "seed": 1}
    found = rank_corpus(source, tmp_path / "o.tsv", tmp_path / "o.json", by="length", **arguments)
    assert [one["low"] for one in found["bounds"]] == [5.5] * 5 + [7] * 5
    for repeated, overlap in (("once", 1 / 4), ("each", 2 / 5)):
        found = rank_corpus(
            source, tmp_path / "o.tsv", tmp_path / "o.json", by="overlap", overlap={"repeated": repeated}, **arguments
        )
        assert found["bounds"][0]["low"] == pytest.approx(overlap)


def test_without_scores_the_error_names_the_corpora_that_have_them(tmp_path):
    source = write(tmp_path / "in.tsv", [("a", "b", 0.5, 0.1)], 2)
    scored = write(tmp_path / "scored.tsv", [("a", "b", 0.5, 0.1)], 3)
    both = write(tmp_path / "both.tsv", [("a", "b", 0.5, 0.1)], 4)
    others = [
        ("C.en-en", "local", source),
        ("S.en-en", "local", scored),
        ("T.en-en", "local", both),
        ("O", "opus", "o"),
        ("G", "local", tmp_path / "none"),
    ]
    assert with_scores(others, "score") == ["S.en-en", "T.en-en"]

    def fails(by: str, path: Path, corpora: list[tuple[str, str, Path | str]]) -> str:
        with pytest.raises(ConfigError) as caught:
            rank_corpus(
                path,
                tmp_path / "o.tsv",
                tmp_path / "o.json",
                corpus="C",
                by=by,
                deciles=[1],
                seed=1,
                others=corpora,
            )
        assert not (tmp_path / "o.tsv").exists() and "\n" not in str(caught.value)
        return str(caught.value)

    said = fails("score", source, others)
    assert "C has no scores (a third column); of the model's corpora, S.en-en and T.en-en can be ranked so" in said
    assert "of the model's corpora, T.en-en can" in fails("translation", scored, others)
    assert "nor has any other" in fails("translation", scored, others[:2])


def test_bad_deciles_and_broken_files_leave_nothing(tmp_path):
    source = write(tmp_path / "in.tsv", [("a", "b", 0.5, 0.1)], 3)
    arguments = {"corpus": "C", "by": "score", "seed": 1}
    for deciles in ([0], [11], [1, 1]):
        with pytest.raises(ConfigError, match="write each of 1 to 10 once"):
            rank_corpus(source, tmp_path / "o.tsv", tmp_path / "o.json", deciles=deciles, **arguments)
    (tmp_path / "in.tsv").write_text("a\tb\t1.0\t0.5\nc\td\t1.0\tnan\n")
    with pytest.raises(DataError, match=r"in\.tsv, line 2: the score '1.0 nan' is not"):
        rank_corpus(source, tmp_path / "o.tsv", tmp_path / "o.json", deciles=[1], **arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["in.tsv"]


def test_no_pairs_are_ten_empty_deciles(tmp_path):
    (tmp_path / "in.tsv").touch()
    found = rank_corpus(
        tmp_path / "in.tsv", tmp_path / "o.tsv", tmp_path / "o.json", corpus="C", by="score", deciles=[10], seed=1
    )
    assert (found["seen"], found["kept"]) == (0, 0) and not (tmp_path / "o.tsv").read_bytes()


def test_deduplication_leaves_translation_scores_out(tmp_path):
    rows: Rows = [("a", "b", 0.5, -1.0), ("A", "b", 0.75, -2.0), ("c", "d", 0.1, -1.0)]
    found = [
        dedupe_corpus(
            write(tmp_path / f"{columns}.tsv", rows, columns),
            tmp_path / f"out{columns}.tsv",
            tmp_path / "out.json",
            corpus="C",
            cap=None,
            seed=1,
        )
        for columns in (3, 4)
    ]
    assert found[0] == found[1] and found[0]["kept"] == 2
    assert (tmp_path / "out3.tsv").read_bytes() == (tmp_path / "out4.tsv").read_bytes()
