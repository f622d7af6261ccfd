"""Pairs drawn by a seed: of any order, any shards, with copies and bad rows."""

import gzip
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.corpora import open_corpus
from psp.pairs.stats import sample
from psp.pairs.stats.sample import Pair, pair_id, range_of, read, written
from tests.conftest import PAIRS

ENDS = (-0.1, 0.2, 0.4, 0.6, 0.8, 1.0)


def scored(count, seed=1):
    source = random.Random(seed)
    return [(f"this is sentence {n}", f"that is number {n}", round(source.uniform(-0.3, 1.2), 3)) for n in range(count)]


def reading(rows, tmp_path, **options):
    options = {"size": 50, "ends": ENDS, "of_range": 4, "seed": 1} | options
    return read(rows, tmp_path / "pairs.tsv", **options)


@given(st.randoms(use_true_random=False), st.integers(1, 6))
@settings(deadline=None, max_examples=25)
def test_neither_order_nor_copies_nor_batches_matter(tmp_path_factory, source, copies):
    folder = tmp_path_factory.getbasetemp()
    rows = scored(300)
    first = reading(rows, folder)
    again = rows + [source.choice(rows[:3]) for _ in range(copies * 100)]
    source.shuffle(again)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sample, "BATCH", source.randint(1, 400))
        second = reading(again, folder)
    assert second.sample == first.sample and second.drawn == first.drawn
    assert len(first.sample) == 50 and sum(second.counts) == len(again)


def test_the_sample_is_even_over_the_corpus(tmp_path):
    """Of 20 seeds' samples, each half of a corpus has half: within four standard deviations."""
    rows = scored(1000)
    place = {row[0]: n for n, row in enumerate(rows)}
    firsts = sum(
        place[pair.source] < 500 for seed in range(20) for pair in reading(rows, tmp_path, size=100, seed=seed).sample
    )
    assert abs(firsts - 1000) < 4 * (2000 * 0.25) ** 0.5
    samples = [tuple(reading(rows, tmp_path, seed=seed).sample) for seed in (1, 2)]
    assert samples[0] != samples[1]


def test_ranges_hold_their_upper_end():
    assert range_of(ENDS, [-0.1, -0.0999, 0.2, 0.20001, 1.0, 1.01, -5]).tolist() == [0, 1, 1, 2, 5, 6, 0]


def test_scores_are_counted_by_range_and_each_range_has_a_draw(tmp_path):
    rows = scored(500)
    found = reading(rows, tmp_path)
    wanted = Counter(sum(score > end for end in ENDS) for *_, score in rows)
    assert found.counts == [wanted[number] for number in range(7)] and found.scored
    for low, high, drawn in zip(ENDS, ENDS[1:], found.drawn, strict=False):
        assert len(drawn) == 4 and all(low < pair.score <= high for pair in drawn)


def test_of_copies_with_other_scores_the_highest_counts_in_any_order(tmp_path):
    rows = [("a b", "c d", 0.3), ("a b", "c d", 0.9), ("e", "f", 0.5)]
    for some in (rows, rows[::-1]):
        found = reading(some, tmp_path, sought={pair_id("a b", "c d")})
        assert sorted(found.sample) == [Pair("a b", "c d", 0.9), Pair("e", "f", 0.5)]
        assert found.found == {pair_id("a b", "c d"): Pair("a b", "c d", 0.9)}


def test_without_scores_there_is_one_range(tmp_path):
    found = reading(PAIRS, tmp_path)
    assert not found.scored and len(found.drawn) == 1 and len(found.drawn[0]) == 4


def test_a_users_file_may_have_bad_rows_empty_sides_and_windows_line_ends(tmp_path):
    path = tmp_path / "own.tsv"
    path.write_bytes("\ufeffone\ttwo\t0.5\r\n\r\n \tthree\t0.1\r\nfour\t five \t0.25\r\n".encode())
    found = read(open_corpus("local", path), path, size=9, ends=ENDS, of_range=9, seed=1)
    assert (found.rows, found.bad_rows, found.empty) == (4, 1, 1)
    assert sorted(found.sample) == [Pair("four", "five", 0.25), Pair("one", "two", 0.5)]
    path.write_text("\ta\n \tb\n")
    with pytest.raises(DataError, match=r"own.tsv: no pairs; write lines"):
        read(open_corpus("local", path), path, size=9, ends=ENDS, of_range=9, seed=1)


def test_files_of_the_workflow(tmp_path):
    path = tmp_path / "filtered.tsv"
    path.write_text("a\tb\t0.5\nc\td\t1\n")
    assert list(written(path)) == [("a", "b", 0.5), ("c", "d", 1.0)]
    path.write_text("a\tb\nc\td\n")
    assert list(written(path)) == [("a", "b"), ("c", "d")]
    path.write_text("a\tb\t0.5\t-2\nc\td\t1\t-1\n")  # with translation scores, which are no concern here
    assert list(written(path)) == [("a", "b", 0.5), ("c", "d", 1.0)]
    assert reading(open_corpus("local", path), tmp_path).scored
    path.write_text("a\tb\n\td\n")
    with pytest.raises(DataError, match="line 2: a side without text"):
        list(written(path))


def test_trees_go_with_their_lines(tmp_path):
    path, trees = tmp_path / "own.tsv", tmp_path / "trees.txt"
    path.write_text("one\ttwo\nno pair\n\tempty\nthree\tfour\n")
    trees.write_text("(S (NP one))\n\nanything\n(ROOT (VP (VB three)))\n")

    def tops(**options):
        found = read(
            open_corpus("local", path), path, size=9, ends=ENDS, of_range=1, seed=1, **{"parses": trees} | options
        )
        return {pair.source: pair.tree for pair in found.sample}

    assert tops() == {"one": "(S (NP))", "three": "(VP (VB))"}
    packed = tmp_path / "trees.gz"  # with Windows line ends and a byte order mark
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + trees.read_bytes().replace(b"\n", b"\r\n")))
    assert tops(parses=packed) == tops()
    trees.write_text("(S (NP one))\n\n\n(ROOT (VP (VB three))\n")
    with pytest.raises(DataError, match=r"trees.txt, line 4: brackets are not balanced: 3 opened, 2 closed"):
        tops()
    trees.write_text("(S (NP one))\n\n\n")
    with pytest.raises(DataError, match=r"trees.txt, line 3: ends after this line, but .*own.tsv goes on"):
        tops()
    trees.write_text("(S (NP one))\n\n\n(S three)\n(S four)\n")
    with pytest.raises(DataError, match=r"trees.txt, line 5: one tree or more too many: .*own.tsv has 4 lines"):
        tops()


def test_an_id_is_of_both_sides_and_looks_like_no_number():
    assert pair_id("a", "b") != pair_id("b", "a") and pair_id("a", "b") == "p" + pair_id("a", "b")[1:].lower()
    assert all(pair_id(f"{n}", "x").startswith("p") and len(pair_id(f"{n}", "x")) == 17 for n in range(50))
