"""Tatoeba: finding each sentence's translation among up to 1,000, by nearest neighbour (LASER's test sets).

The error rate in % is given in both directions with Wilson's 95% interval. As in LASER a sentence is right only where
the neighbour has its very index; errors where the neighbour's text equals the right translation's are counted as
``duplicates``, so that a reader can tell them from real errors.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from psp.errors import DataError
from psp.evaluation.bootstrap import wilson
from psp.evaluation.scorers import Floats, Scorer
from psp.languages import TATOEBA
from psp.text import read_lines


def code(language: str) -> str | None:
    """The three-letter code of a config language's set, or None where there is none (English, unknown codes)."""
    return TATOEBA.get(language, language if language in TATOEBA.values() else None)


def files(folder: Path | str, language: str) -> tuple[Path, Path]:
    """The two files of a language's set in a folder: the language's side, then the English one.

    Raises:
        DataError: there is no Tatoeba set for this language.
    """
    iso3 = code(language)
    if iso3 is None:
        raise DataError(f"there is no Tatoeba test set for the language {language!r}")
    return Path(folder) / f"tatoeba.{iso3}-eng.{iso3}", Path(folder) / f"tatoeba.{iso3}-eng.eng"


def read(foreign: Path | str, english: Path | str) -> tuple[list[str], list[str]]:
    """The aligned sentences of both sides.

    Raises:
        DataError: a file is missing, not UTF-8 or empty, has an empty line, or the sides differ in length.
    """
    sides = _side(Path(foreign)), _side(Path(english))
    if len(sides[0]) != len(sides[1]):
        raise DataError(
            f"{len(sides[0])} lines, but {len(sides[1])} in {english}; line n must translate line n", foreign
        )
    return sides


def _side(path: Path) -> list[str]:
    try:
        with path.open("rb") as stream:
            lines = [line.strip("\r") for line in read_lines(stream, path)]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    if not lines:
        raise DataError("no sentences", path)
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise DataError("an empty sentence", path, number)
    return lines


def score(scorer: Scorer, foreign: list[str], english: list[str], iso3: str) -> dict[str, Any]:
    """Both directions: ``{"fra-eng": figures, "eng-fra": figures}``, the query's language first.

    Figures are ``error`` (%), ``interval``, ``errors``, ``duplicates`` (errors that found the right text elsewhere)
    and ``pairs``.
    """
    similarity = scorer.cross(foreign, english)
    return {
        f"{iso3}-eng": _figures(*count_errors(similarity, english)),
        f"eng-{iso3}": _figures(*count_errors(similarity.T, foreign)),
    }


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
