"""Samples: what is in them, that they are shuffled and equal for any order, and how many pairs are taken."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from psp.core.errors import ConfigError, DataError
from psp.core.files import read_json
from psp.pairs.samples import SampledCorpus, first_pairs, sample_all, sample_corpus, sample_deciles, sample_size

ROWS = [(f"{'word ' * (n % 7 + 1)}{n}", f"mot {n}", n / 100) for n in range(100)]


def corpus(path: Path, rows, columns: int = 3) -> SampledCorpus:
    path.write_text("".join("\t".join(map(str, row[:columns])) + "\n" for row in rows))
    name = path.stem
    return SampledCorpus(f"{name}.en-en", name, "local", str(path), path, {})


def lines(path: Path) -> list[str]:
    return path.read_text().splitlines()


def deciles(corpora, folder: Path, **arguments):
    outs = {decile: folder / f"out-{decile}.tsv" for decile in range(1, 11)}
    found = sample_deciles(corpora, "score", outs, folder / "report.json", seed=1, **arguments)
    assert read_json(folder / "report.json") == found
    return found, {decile: lines(path) for decile, path in outs.items()}


def test_a_sample_holds_the_decile_of_each_corpus_without_scores_and_copies(tmp_path):
    copies = [(a.upper(), b, score) for a, b, score in ROWS[:10]]
    one = corpus(tmp_path / "one.tsv", ROWS)
    other = corpus(tmp_path / "other.tsv", [(f"x{a}", b, score) for a, b, score in ROWS] + copies)
    found, kept = deciles([one, other], tmp_path)
    assert [sample["name"] for sample in found["samples"]] == [f"score-{decile}" for decile in range(1, 11)]
    assert [sample["pairs"] for sample in found["samples"]] == [len(kept[decile]) for decile in kept]
    assert [one["label"] for one in found["corpora"]] == ["one.en-en", "other.en-en"]
    # A decile of 100 pairs and one of 110, the highest of each.
    expected = {f"{a}\t{b}" for a, b, _ in ROWS[90:]} | {f"x{a}\t{b}" for a, b, _ in ROWS[89:]}
    assert {*kept[10]} == expected
    assert all(line.count("\t") == 1 for decile in kept.values() for line in decile)
    # The copies of other case, of a pair of the same decile, are gone.
    assert len(kept[1]) in (15, 16) and len({line.lower() for line in kept[1]}) == len(kept[1])

    # Any order of the input gives the same bytes; the order is no longer the input's, and a cap keeps the first.
    shuffled = random.Random(1).sample(ROWS, len(ROWS))
    (tmp_path / "again").mkdir()
    first = deciles([corpus(tmp_path / "one.tsv", ROWS)], tmp_path)[1]
    assert deciles([corpus(tmp_path / "one.tsv", shuffled)], tmp_path / "again")[1] == first
    assert first[1] != [f"{a}\t{b}" for a, b, _ in ROWS[:10]]
    found, capped = deciles([one], tmp_path, cap=4)
    assert capped == {decile: rows[:4] for decile, rows in first.items()}
    assert {sample["pairs"] for sample in found["samples"]} == {4}
    assert not list(tmp_path.glob(".*"))


def test_all_pairs_and_one_corpus(tmp_path):
    one, other = corpus(tmp_path / "one.tsv", ROWS), corpus(tmp_path / "other.tsv", [*ROWS, ("a", "b", 1.5)], 2)
    found = sample_all([one, other], tmp_path / "all.tsv", tmp_path / "all.json", seed=1)
    assert found == {"format": 1, "by": None, "corpora": [], "samples": [{"name": "all", "pairs": 101}]}
    assert {*lines(tmp_path / "all.tsv")} == {f"{a}\t{b}" for a, b, _ in [*ROWS, ("a", "b", 1.5)]}
    assert sample_corpus(one.filtered, tmp_path / "own.tsv", cap=7) == 7
    assert lines(tmp_path / "own.tsv") == [f"{a}\t{b}" for a, b, _ in ROWS[:7]]


def test_a_corpus_without_scores_is_named(tmp_path):
    plain, scored = corpus(tmp_path / "plain.tsv", ROWS, 2), corpus(tmp_path / "scored.tsv", ROWS)
    with pytest.raises(ConfigError, match=r"plain has no scores .* scored\.en-en can be ranked so"):
        deciles([scored, plain], tmp_path)
    assert not list(tmp_path.glob("out-*")) and not list(tmp_path.glob(".*"))


def test_as_many_of_each_are_trained_on(tmp_path):
    there = {"score-1": 30, "score-2": 20}
    assert sample_size(there, None, "models.en.deciles") == 20
    assert sample_size(there, 15, "models.en.deciles") == 15
    with pytest.raises(DataError, match=r"^models\.en\.deciles\.pairs: is 21, but score-2 has 20; write `pairs: 20`"):
        sample_size(there, 21, "models.en.deciles")
    with pytest.raises(DataError, match="score-1 has no pair"):
        sample_size({"score-1": 0}, None, "models.en.deciles")
    path = corpus(tmp_path / "one.tsv", ROWS, 2).filtered
    first_pairs(path, tmp_path / "first.tsv", 3)
    assert lines(tmp_path / "first.tsv") == lines(path)[:3]
    with pytest.raises(DataError, match="holds 100 pairs, not 101"):
        first_pairs(path, tmp_path / "first.tsv", 101)
