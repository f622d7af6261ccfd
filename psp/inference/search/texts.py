"""Search and mining among texts in memory, for Python: ``psp.search`` and ``psp.mine``.

``psp search`` and ``psp mine`` do the same with files of any size, and with a saved index.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from psp.inference.search import CHOICES, bitext
from psp.inference.search.neighbours import nearest
from psp.inference.search.vectors import embed, readings
from psp.models.folder import load_model
from psp.models.text_model import TextModel, checked_texts


class TextHit(NamedTuple):
    """A text found for a query: its cosine (-1 to 1), its position among the texts, from 0, and itself."""

    cosine: float
    position: int
    text: str


class TextPair(NamedTuple):
    """A source and a target that are translations of each other: the margin of their cosine, and positions from 0."""

    margin: float
    source_position: int
    target_position: int
    source: str
    target: str


def search(
    model: TextModel | str | Path, texts: Sequence[str], queries: Sequence[str], k: int = 10
) -> list[list[TextHit]]:
    """Find the ``k`` texts nearest to each query, by cosine; exactly, with ties to the earlier text.

    Args:
        model: a model, or its folder.
        texts: the texts to search; those without a piece that the model knows are never found.
        queries: the texts to search for.
        k: 1 or more.

    Returns:
        For each query its hits, nearest first: fewer than ``k`` if there are fewer texts, none for a query of which the
        model knows no piece.

    Raises:
        TypeError: ``texts`` or ``queries`` is not a list of str.
        ValueError: ``k`` is below 1.
        PspError: faiss is not installed (the extra ``search``).
        DataError: there is no model in the folder.
    """
    if k < 1:
        raise ValueError(f"k is {k}; write 1 or more")
    texts, queries, loaded = checked_texts(texts), checked_texts(queries), _loaded(model)
    (rows, places), (vectors, asked) = embed(loaded, texts), embed(loaded, queries)
    hits: list[list[TextHit]] = [[] for _ in queries]
    for query, cosines, numbers in zip(asked.tolist(), *nearest(vectors, rows, k), strict=True):
        found = places[numbers[numbers >= 0]].tolist()
        hits[query] = [
            TextHit(cosine, index, texts[index]) for cosine, index in zip(cosines.tolist(), found, strict=False)
        ]
    return hits


def mine(
    model: TextModel | str | Path,
    source: Sequence[str],
    target: Sequence[str],
    *,
    threshold: float | None = None,
    k: int = 4,
    margin: str = "ratio",
    pairs: str = "max",
) -> list[TextPair]:
    """Find translations (or paraphrases) in two lists of texts, by the margin of their cosines.

    Args:
        model: a model, or its folder.
        source, target: texts; of those that the model reads as the same, the first is taken.
        threshold: the lowest margin of a pair; None = 1.25 for ``ratio``, 0.1 for ``distance``, 0.5 for ``absolute``.
        k: neighbours considered for each text.
        margin: ``ratio``: the cosine over its neighbours' mean; ``distance``: minus that mean; ``absolute``: alone.
        pairs: ``max``: the best of both directions, each text once; ``intersection``: each other's best; ``forward``,
            ``backward``: the best target of each source, or the other way round.

    Returns:
        The pairs, largest margin first.

    Raises:
        TypeError: ``source`` or ``target`` is not a list of str.
        ValueError: ``margin`` or ``pairs`` is none of these, or ``k`` is below 1.
        PspError: faiss is not installed (the extra ``search``).
        DataError: there is no model in the folder.
    """
    for name, value, known in (("margin", margin, tuple(bitext.MARGINS)), ("pairs", pairs, CHOICES)):
        if value not in known:
            raise ValueError(f"{name} is {value!r}; write one of {', '.join(known)}")
    if k < 1:
        raise ValueError(f"k is {k}; write 1 or more")
    source, target, loaded = checked_texts(source), checked_texts(target), _loaded(model)
    least = bitext.THRESHOLDS[margin] if threshold is None else threshold
    sides = [_distinct(loaded, texts) for texts in (source, target)]
    mined = bitext.mine(sides[0][0], sides[1][0], k=k, margin=margin, choose=pairs, threshold=least)
    rows = zip(
        mined.margins.tolist(), sides[0][1][mined.sources].tolist(), sides[1][1][mined.targets].tolist(), strict=True
    )
    return [TextPair(score, left, right, source[left], target[right]) for score, left, right in rows]


def _loaded(model: TextModel | str | Path) -> TextModel:
    return load_model(model) if isinstance(model, (str, Path)) else model


def _distinct(model: TextModel, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors of texts with at least one known piece, one of all that the model reads as the same: the first."""
    first: dict[bytes, int] = {}
    for index, reading in enumerate(readings(model, texts)):
        first.setdefault(reading, index)
    vectors, kept = embed(model, [texts[index] for index in first.values()])
    return vectors, np.fromiter(first.values(), np.int64, len(first))[kept]
