"""Ranking against a plain sort: ties, order of the input, blocks and passes; errors; what the stages around it see."""

from __future__ import annotations

import json
import random
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import xxhash
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core.errors import ConfigError, DataError
from psp.pairs import pair_file, rank, rank_records
from psp.pairs.dedupe import seed_for
from psp.pairs.rank import RankReport, rank_corpus, with_scores
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


def ranked(folder: Path, source: Path, name: str = "o", **options: Any) -> RankReport:
    settings = {"corpus": "C", "by": "score", "deciles": [1], "seed": 1, **options}
    return rank_corpus(source, folder / f"{name}.tsv", folder / f"{name}.json", **settings)


def lines(path: Path) -> list[bytes]:
    return path.read_bytes().split(b"\n")[:-1]


# Few texts, so that many pairs are copies, also with other scores or another case, and equal a bound.
copies = st.lists(
    st.tuples(
        st.sampled_from(["a b c d", "A b c d", "b"]),
        st.sampled_from(["a b c d", "é"]),
        *[st.sampled_from(SCORES[:5])] * 2,
    ),
    max_size=40,
)


@settings(max_examples=40)
@given(
    rows=st.one_of(rows_of_four, copies),
    columns=st.integers(2, 4),
    by=st.sampled_from(rank.BY),
    deciles=st.sets(st.integers(1, 10), min_size=1),
    block=st.integers(1, 60),
    run=st.integers(1, 20),
)
def test_deciles_equal_a_plain_sort_for_any_order_blocks_and_runs(
    tmp_path_factory, rows, columns, by, deciles, block, run
):
    folder, columns = tmp_path_factory.mktemp("rank"), max(columns, {"score": 3, "translation": 4}.get(by, 2))
    expected = reference(rows, by, columns)
    kept = sorted(line for decile in deciles for line in expected[decile - 1])
    source = write(folder / "in.tsv", rows, columns)
    one = ranked(folder, source, by=by, deciles=deciles)
    assert json.loads((folder / "o.json").read_text()) == one
    assert sorted(lines(folder / "o.tsv")) == kept
    assert [bound["pairs"] for bound in one["bounds"]] == list(map(len, expected))
    assert (one["seen"], one["kept"]) == (len(rows), len(kept))
    values = iter(sorted(value(row, by) for row in rows))
    for bound in one["bounds"]:
        mine = [next(values) for _ in range(bound["pairs"])]
        assert (bound["low"], bound["high"]) == ((mine[0], mine[-1]) if mine else (None, None))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pair_file, "BLOCK_BYTES", block)
        patch.setattr(rank_records, "RUN", run)
        assert ranked(folder, source, "parts", by=by, deciles=deciles) == one
        assert (folder / "parts.tsv").read_bytes() == (folder / "o.tsv").read_bytes()
        write(source, random.Random(1).sample(rows, len(rows)), columns)
        assert ranked(folder, source, by=by, deciles=deciles) == one
        assert sorted(lines(folder / "o.tsv")) == kept


@pytest.mark.parametrize("block", [1, 90, 10_000])
def test_pairs_keep_their_order_whatever_the_blocks(tmp_path, monkeypatch, block):
    monkeypatch.setattr(pair_file, "BLOCK_BYTES", block)
    scores = random.Random(1).sample(range(100), 100)
    source = write(tmp_path / "in.tsv", [("a", "b", score, 0) for score in scores], 3)
    expected = [score for score in scores if score > 80 and score != 90] + [80, 90]  # those at a bound come last
    ranked(tmp_path, source, deciles=[9, 10])
    assert [int(row.split(b"\t")[2]) for row in lines(tmp_path / "o.tsv")] == expected


def test_length_is_the_mean_of_both_sides_and_overlap_reads_the_filters_settings(tmp_path):
    rows: Rows = [("a b c d a b c", "a b c x a b c", 0, 0), ("a b c d", "a b c e f g h", 0, 0)] * 5
    source = write(tmp_path / "in.tsv", rows, 2)
    found = ranked(tmp_path, source, by="length")
    assert [one["low"] for one in found["bounds"]] == [5.5] * 5 + [7] * 5
    for repeated, overlap in (("once", 1 / 4), ("each", 2 / 5)):
        found = ranked(tmp_path, source, by="overlap", overlap={"repeated": repeated})
        assert found["bounds"][0]["low"] == pytest.approx(overlap)


def test_without_scores_the_error_names_the_corpora_that_have_them(tmp_path):
    source = write(tmp_path / "in.tsv", [("a", "b", 0.5, 0.1)], 2)
    scored = write(tmp_path / "scored.tsv", [("a", "b", 0.5, 0.1)], 3)
    both = write(tmp_path / "both.tsv", [("a", "b", 0.5, 0.1)], 4)
    others = [
        ("C.en-en", "local", source, ("en", "en")),
        ("S.en-en", "local", scored, ("en", "en")),
        ("T.en-en", "local", both, ("en", "en")),
        ("O", "opus", "o", ("en", "en")),
        ("G", "local", tmp_path / "none", ("en", "en")),
    ]
    assert with_scores(others, "score") == ["S.en-en", "T.en-en"]
    (tmp_path / "t.csv").write_text("en,fr,s\na,b,0.5\n")
    assert with_scores([("P", "csv", tmp_path / "t.csv", ("", "en", "fr", "s"))], "score") == ["P"]

    def fails(by: str, path: Path, corpora: list[tuple[str, str, Path | str, tuple[str, ...]]]) -> str:
        with pytest.raises(ConfigError) as caught:
            ranked(tmp_path, path, by=by, others=corpora)
        assert not (tmp_path / "o.tsv").exists() and "\n" not in str(caught.value)
        return str(caught.value)

    said = fails("score", source, others)
    assert "C has no scores (a third column); of the model's corpora, S.en-en and T.en-en can be ranked so" in said
    assert "of the model's corpora, T.en-en can" in fails("translation", scored, others)
    assert "nor has any other" in fails("translation", scored, others[:2])


def test_bad_deciles_and_broken_files_leave_nothing(tmp_path):
    source = write(tmp_path / "in.tsv", [("a", "b", 0.5, 0.1)], 3)
    for deciles in ([0], [11], [1, 1]):
        with pytest.raises(ConfigError, match="write each of 1 to 10 once"):
            ranked(tmp_path, source, deciles=deciles)
    (tmp_path / "in.tsv").write_text("a\tb\t1.0\t0.5\nc\td\t1.0\tnan\n")
    with pytest.raises(DataError, match=r"in\.tsv, line 2: the score '1.0 nan' is not"):
        ranked(tmp_path, source)
    assert [path.name for path in tmp_path.iterdir()] == ["in.tsv"]
