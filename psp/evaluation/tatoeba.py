"""Tatoeba: finding each sentence's translation among up to 1,000, by nearest neighbour (LASER's test sets).

The error rate in % is given in both directions with Wilson's 95% interval. As in LASER a sentence is right only where
the neighbour has its very index; errors where the neighbour's text equals the right translation's are counted as
``duplicates``, so that a reader can tell them from real errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from psp.evaluation.bootstrap import wilson
from psp.evaluation.scorers import Floats, Scorer


def score(scorer: Scorer, foreign: list[str], english: list[str], iso3: str) -> dict[str, Any]:
    """Both directions: ``{"fra-eng": figures, "eng-fra": figures}``, the query's language first.

    Figures are ``error`` (%), ``interval``, ``errors``, ``duplicates`` (errors that found the right text elsewhere)
    and ``pairs``.
    """
    return {direction: figures for direction, (figures, _) in search(scorer, foreign, english, iso3).items()}


def search(
    scorer: Scorer, foreign: list[str], english: list[str], iso3: str
) -> dict[str, tuple[dict[str, Any], npt.NDArray[np.bool_]]]:
    """As :func:`score`, and with each direction's figures its wrong queries: bool, shape (pairs,)."""
    similarity = scorer.cross(foreign, english)
    return {
        f"{iso3}-eng": (_figures(*count_errors(similarity, english)), wrong(similarity)),
        f"eng-{iso3}": (_figures(*count_errors(similarity.T, foreign)), wrong(similarity.T)),
    }


def wrong(similarity: Floats) -> npt.NDArray[np.bool_]:
    """Which queries find another candidate than their own: bool, shape (queries,); on a tie the first one is found."""
    return np.argmax(similarity, axis=1) != np.arange(len(similarity))


def count_errors(similarity: Floats, texts: list[str]) -> tuple[int, int, int]:
    """Errors of nearest-neighbour search, those of them that are textual duplicates, and the number of queries.

    ``similarity[i, j]`` is that of query i and candidate ``texts[j]``; candidate i is right. On a tie the first
    candidate is taken.
    """
    found = np.argmax(similarity, axis=1)
    wrong = np.flatnonzero(found != np.arange(len(texts)))
    return len(wrong), sum(texts[found[i]] == texts[i] for i in wrong), len(texts)


def _figures(errors: int, duplicates: int, pairs: int) -> dict[str, Any]:
    return {
        "error": round(100 * errors / pairs, 4),
        "interval": wilson(errors, pairs),
        "errors": errors,
        "duplicates": duplicates,
        "pairs": pairs,
    }
