"""Tatoeba: retrieve each sentence's translation among up to 1,000 by nearest neighbour (LASER's test sets).

The error rate in % is given for both directions with Wilson 95% intervals. As in LASER, only the neighbour with the
same index is right; errors whose text equals the right translation are also counted as ``duplicates``, to tell them
from real errors.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from psp.evaluation.bootstrap import wilson
from psp.evaluation.metrics import count_errors, wrong
from psp.evaluation.scorers import Scorer


def score(scorer: Scorer, foreign: list[str], english: list[str], iso3: str) -> dict[str, Any]:
    """Score both directions: ``{"fra-eng": figures, "eng-fra": figures}``, the query's language first.

    The figures are ``error`` (%), ``interval``, ``errors``, ``duplicates`` (errors that found the right text elsewhere)
    and ``pairs``.
    """
    return {direction: figures for direction, (figures, _) in search(scorer, foreign, english, iso3).items()}


def search(
    scorer: Scorer, foreign: list[str], english: list[str], iso3: str
) -> dict[str, tuple[dict[str, Any], npt.NDArray[np.bool_]]]:
    """Like :func:`score`, and return each direction's wrong queries as well: bool, shape (pairs,)."""
    similarity = scorer.cross(foreign, english)
    return {
        f"{iso3}-eng": (_figures(*count_errors(similarity, english)), wrong(similarity)),
        f"eng-{iso3}": (_figures(*count_errors(similarity.T, foreign)), wrong(similarity.T)),
    }


def _figures(errors: int, duplicates: int, pairs: int) -> dict[str, Any]:
    return {
        "error": round(100 * errors / pairs, 4),
        "interval": wilson(errors, pairs),
        "errors": errors,
        "duplicates": duplicates,
        "pairs": pairs,
    }
