"""Examples of what a model gets right and wrong, for people to read (examples.json); no score comes from here.

From the STS sets, the pairs on which the model's ranking differs most from the human one; from Tatoeba, translations
found and sentences mistaken for them or, without Tatoeba sets, nearest neighbours among the STS sentences.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypedDict

import numpy as np
import numpy.typing as npt
from scipy import stats

from psp.core.files import write_json
from psp.evaluation import testsets
from psp.evaluation.scorers import EmbeddingScorer, Scorer
from psp.models.folder import load


class ExamplePair(TypedDict):
    set: str  # the test set
    a: str  # the first sentence
    b: str  # the second
    gold: float  # people's score
    similarity: float  # cosine
    gold_rank: float  # by people's scores
    rank: float  # by the model's


class WrongExample(TypedDict):
    query: str  # the sentence
    translation: str  # its translation
    similarity: float  # of the two
    found: str  # its nearest neighbour
    found_similarity: float  # of the query and that


class RightExample(TypedDict):
    query: str  # the sentence
    translation: str  # its translation
    similarity: float  # cosine


class RetrievalExamples(TypedDict):
    wrong: list[WrongExample]  # queries whose nearest neighbour is no translation, the most confident errors first
    right: list[RightExample]  # queries whose translation was found, drawn at random


class NeighbourExample(TypedDict):
    query: str  # a sentence drawn at random
    found: str  # its nearest neighbour
    similarity: float  # cosine


class FoundExamples(TypedDict):
    overrated: list[ExamplePair]  # STS pairs that the model ranks above people, the largest differences first
    underrated: list[ExamplePair]  # STS pairs that it ranks below people
    retrieval: dict[str, RetrievalExamples]  # sentences of Tatoeba's sets, by direction
    neighbours: list[NeighbourExample]  # without Tatoeba's sets, nearest neighbours among sentences of the STS sets


class Examples(FoundExamples):
    """Sentences of the test sets that a model gets right and wrong, for people to read."""

    format: int
    model: str


FORMAT: Final = 1
#: Examples of each kind.
COUNT = 10
#: Sentences of STS sets among which neighbours are sought, at most: a matrix of cosines of 200 MB.
POOL = 5000


def examples_of_model(model_dir: Path | str, out: Path | str, *, name: str, **tests: Any) -> Examples:
    """Collect the examples of a trained model and write examples.json.

    Args:
        model_dir: the model's folder.
        out: path of examples.json; written atomically.
        name: the model's name in the config.
        tests: as for :func:`examples`.

    Raises:
        DataError: as :func:`examples`; or ``model_dir`` holds no model.
    """
    result: Examples = {"format": FORMAT, "model": name, **examples(EmbeddingScorer(load(model_dir)), **tests)}
    write_json(out, result)
    return result


def examples(
    scorer: Scorer,
    *,
    languages: Sequence[str],
    sts: Path | str | None = None,
    tatoeba: Mapping[str, tuple[Path, Path]] | None = None,
    files: Mapping[str, Path] | None = None,
    count: int = COUNT,
) -> FoundExamples:
    """Collect examples from the test sets that the languages cover; the same inputs give the same examples.

    Args:
        scorer: the system.
        languages, sts, tatoeba, files: as for :func:`psp.evaluation.evaluate.evaluate`.
        count: examples of each kind.

    Returns:
        ``overrated`` and ``underrated``: STS pairs (``set``, ``a``, ``b``, ``gold``, ``similarity``, and the share of
        the set's pairs that people and the model rank below: ``gold_rank``, ``rank``), the largest differences of the
        two ranks first; ``retrieval``: for each direction ``wrong`` (the most confident errors first) and ``right``
        (drawn at random), each with ``query``, ``translation``, ``similarity`` to it, and of the wrong ones ``found``
        and ``found_similarity``; ``neighbours``: without Tatoeba sets, a sentence (drawn at random), its nearest
        neighbour, and their similarity.

    Raises:
        DataError: a set is missing or malformed.
    """
    pairs, sentences = _rated(scorer, _sets(frozenset(languages), sts, files or {}))
    pairs.sort(key=lambda pair: (pair["gold_rank"] - pair["rank"], pair["set"], pair["a"], pair["b"]))
    retrieval: dict[str, RetrievalExamples] = {}
    for language, paths in (tatoeba or {}).items():
        iso3 = testsets.tatoeba_code(language)
        if iso3 is not None and {language, "en"} <= set(languages):
            retrieval |= _retrieved(scorer, *testsets.read_tatoeba(*paths), iso3, count)
    return {
        "overrated": [pair for pair in pairs[:count] if pair["rank"] > pair["gold_rank"]],
        "underrated": [pair for pair in pairs[: -count - 1 : -1] if pair["rank"] < pair["gold_rank"]],
        "retrieval": retrieval,
        "neighbours": [] if retrieval else _neighbours(scorer, sentences, count),
    }


def _sets(
    languages: frozenset[str], sts: Path | str | None, files: Mapping[str, Path]
) -> list[tuple[str, testsets.StsSet]]:
    sets: list[tuple[str, testsets.StsSet]] = []
    if sts is not None:
        with testsets.StsSource(sts) as source:
            sets += testsets.scored_sets(source, languages)
    return sets + [(name, testsets.read_file(path, name)) for name, path in files.items()]


def _rated(scorer: Scorer, sets: Sequence[tuple[str, testsets.StsSet]]) -> tuple[list[ExamplePair], dict[str, None]]:
    """The pairs of all sets with people's and the model's ranks, each pair once, and the distinct sentences."""
    pairs: dict[tuple[str, str], ExamplePair] = {}  # the STS Benchmark holds pairs of earlier years
    sentences: dict[str, None] = {}
    for name, data in sets:
        if len(data) < 2:
            continue
        similarity = scorer.pairwise(data.a, data.b)
        ranks = [(stats.rankdata(values) - 1) / (len(data) - 1) for values in (data.gold, similarity)]
        for row, (a, b) in enumerate(zip(data.a, data.b, strict=True)):
            sentences[a] = sentences[b] = None
            pairs.setdefault(
                (a, b),
                {
                    "set": name,
                    "a": a,
                    "b": b,
                    "gold": round(float(data.gold[row]), 4),
                    "similarity": _rounded(similarity[row]),
                    "gold_rank": _rounded(ranks[0][row]),
                    "rank": _rounded(ranks[1][row]),
                },
            )
    return list(pairs.values()), sentences


def _retrieved(
    scorer: Scorer, foreign: Sequence[str], english: Sequence[str], iso3: str, count: int
) -> dict[str, RetrievalExamples]:
    similarity = scorer.cross(foreign, english)
    sides = {
        f"{iso3}-eng": (similarity, foreign, english),
        f"eng-{iso3}": (similarity.T, english, foreign),
    }
    return {direction: _direction(*given, count) for direction, given in sides.items()}


def _direction(
    similarity: npt.NDArray[np.float64], queries: Sequence[str], candidates: Sequence[str], count: int
) -> RetrievalExamples:
    nearest = np.argmax(similarity, axis=1)  # as psp.evaluation.metrics: ties go to the first candidate
    best, own = similarity.max(axis=1), np.diagonal(similarity)
    wrong = [row for row, at in enumerate(nearest) if at != row and candidates[at] != candidates[row]]
    right = [row for row, at in enumerate(nearest) if at == row]
    wrong.sort(key=lambda row: (own[row] - best[row], row))
    right.sort(key=lambda row: _drawn(queries[row]))

    def told(row: int) -> RightExample:
        return {"query": queries[row], "translation": candidates[row], "similarity": _rounded(own[row])}

    return {
        "wrong": [
            {**told(row), "found": candidates[nearest[row]], "found_similarity": _rounded(best[row])}
            for row in wrong[:count]
        ],
        "right": [told(row) for row in right[:count]],
    }


def _neighbours(scorer: Scorer, sentences: Mapping[str, None], count: int) -> list[NeighbourExample]:
    pool = sorted(sentences, key=_drawn)[:POOL]
    if len(pool) < 2:
        return []
    queries = pool[:count]
    similarity = scorer.cross(queries, pool)
    np.fill_diagonal(similarity, -np.inf)  # the queries are the first of the pool
    nearest = np.argmax(similarity, axis=1)
    return [
        {"query": query, "found": pool[at], "similarity": _rounded(similarity[row, at])}
        for row, (query, at) in enumerate(zip(queries, nearest, strict=True))
    ]


def _drawn(text: str) -> str:
    """A sort key that gives texts a random order, the same for any order of the input."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _rounded(value: float) -> float:
    return round(float(value), 4)
