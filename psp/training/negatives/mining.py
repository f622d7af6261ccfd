"""Hard negatives: for each anchor of a mega-batch, the most similar sentence not of its pair (paper, section 3.2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from psp.core.jit import compiled, mixed
from psp.pairs.encoded_pairs import Pairs
from psp.text.tokenizer import Encoded
from psp.training.negatives.nearest import CHUNK_ROWS, Nearest, nearest

DRAWS = 20  # random draws before an anchor's candidates are listed


@dataclass(frozen=True)
class Negatives:
    """The negative of each anchor, as a number among all 2n sentences: sources 0..n-1, targets n..2n-1.

    Attributes:
        source: the negative of each source, int64, shape (n,); -1 if every candidate was masked.
        target: the negative of each target, likewise; -1 everywhere if not requested.
    """

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]


class Excluded:
    """Which pairs of a mega-batch must not provide each other's negatives.

    A pair never provides its own. With ``mask_equal``, neither do two pairs that share a text, on whichever sides: if
    sources are equal, the other target is a translation too; if targets are equal, it is the positive itself; and if a
    source equals a target (same-language data, or "OK" in two languages), it is the anchor or its paraphrase. Without
    masking, such pairs would be pushed apart although they mean the same.

    Texts are compared by 64-bit hashes of their ids, and only excluded places are listed, which avoids comparing all
    pairs of texts.
    """

    def __init__(self, source: Encoded, target: Encoded, mask_equal: bool) -> None:
        pairs = len(source)
        keys = (
            np.concatenate([text_hashes(source), text_hashes(target)]) if mask_equal else np.tile(np.arange(pairs), 2)
        )
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        self._pairs = pairs
        self._keys = keys
        self._members = order % max(pairs, 1)  # pairs sorted by their texts' hashes: equal texts are adjacent
        self._starts = np.searchsorted(ordered, keys, side="left")
        self._stops = np.searchsorted(ordered, keys, side="right")

    def places(self, rows: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Excluded places (index into ``rows``, column) of the n x n similarities; some come twice.

        The relation is symmetric: the same places hold for sources against targets and for either side against itself.
        """
        texts = np.concatenate([rows, rows + self._pairs])
        starts, lengths = self._starts[texts], self._stops[texts] - self._starts[texts]
        total = int(lengths.sum())
        firsts = np.cumsum(lengths) - lengths
        places = np.arange(total) + np.repeat(starts - firsts, lengths)
        return np.repeat(np.tile(np.arange(len(rows)), 2), lengths), self._members[places]

    def allowed(self, rows: npt.NDArray[np.int64], columns: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether pair ``columns[i]`` may provide negatives for pair ``rows[i]``."""
        pairs = self._pairs
        keys = [(self._keys[rows + a], self._keys[columns + b]) for a in (0, pairs) for b in (0, pairs)]
        return (rows != columns) & np.logical_and.reduce([mine != theirs for mine, theirs in keys])


def text_hashes(sentences: Encoded) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each sentence's ids, shape (sentences,).

    The hash is the sum of well-mixed (id, position), which needs no loop over sentences. The probability that any two
    different texts of a large mega-batch, of 15,360 texts, have the same hash is about 1e-11.
    """
    sums = np.empty(len(sentences), np.uint64)
    _add_hashes(sentences.ids, sentences.offsets, sums)
    return sums


@compiled(parallel=False)  # two microseconds per hundred sentences: not worth waking threads
def _add_hashes(ids, offsets, sums):  # type: ignore[no-untyped-def]
    for i in range(len(sums)):
        total = np.uint64(0)  # wraps around at 2^64
        for token in range(offsets[i], offsets[i + 1]):
            place = np.uint64(token - offsets[i])
            total += mixed(np.uint64(ids[token]) + (place << np.uint64(32)))
        sums[i] = total


def mine_by_kind(
    pairs: Pairs,
    source: Tensor,
    target: Tensor,
    *,
    negatives: str,
    mask_equal: bool,
    of_targets: bool = True,
    generator: np.random.Generator | None = None,
    reduced: bool | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Negatives:
    """Mine the negatives of a mega-batch that may mix bitext and paraphrases.

    An anchor's candidates come from pairs of its own kind: for a French anchor, an English sentence's paraphrase would
    be a candidate in the wrong language. So each kind is mined separately, which is also less work than one product
    with the other kind masked.

    Args:
        pairs: the mega-batch.
        source, target: its vectors, shape (pairs, dim); scaled to unit length in place.
        negatives: ``auto``: any sentence for paraphrases, the opposite side for bitext (as in the paper); ``opposite``,
            ``same`` or ``any`` for both kinds, as in :func:`mine`; or ``random``, from the opposite side, ignoring the
            vectors.
        mask_equal: as in :class:`Excluded`.
        of_targets: whether targets are anchors too; if not, their negatives are not searched for (random ones are drawn
            anyway). Those of sources are the same either way.
        generator: for random negatives.
        reduced, chunk_rows: as in :func:`psp.training.negatives.nearest.nearest`.
    """
    joined = Negatives(np.full(len(pairs), -1), np.full(len(pairs), -1))
    for paraphrase in (False, True):
        rows = np.flatnonzero(pairs.paraphrase == paraphrase)
        if not len(rows):
            continue
        some, vectors = pairs, (source, target)
        if len(rows) < len(pairs):
            chosen = torch.from_numpy(rows).to(source.device)
            some, vectors = pairs.take(rows), (source[chosen], target[chosen])
        excluded = Excluded(some.source, some.target, mask_equal)
        if negatives == "random":
            assert generator is not None
            part = draw(excluded, len(rows), generator)
        else:
            candidates = {"auto": "any" if paraphrase else "opposite"}.get(negatives, negatives)
            part = mine(
                *vectors,
                excluded,
                candidates,
                of_targets=of_targets,
                reduced=reduced,
                chunk_rows=chunk_rows,
            )
        # From numbers among this kind's 2m sentences to numbers among all 2n; -1 (none) indexes the last, which is -1.
        numbers = np.concatenate([rows, rows + len(pairs), [-1]])
        joined.source[rows], joined.target[rows] = numbers[part.source], numbers[part.target]
    return joined


def mine(
    source: Tensor,
    target: Tensor,
    excluded: Excluded,
    negatives: str,
    *,
    of_targets: bool = True,
    reduced: bool | None = None,
    chunk_rows: int = CHUNK_ROWS,
) -> Negatives:
    """Find the most similar allowed sentence for each source and each target, by cosine.

    Args:
        source, target: vectors of the mega-batch's pairs, shape (n, dim), float32, computed with dropout off. They are
            scaled to unit length in place: for 12,800 pairs of 1,024 dimensions, a copy would be 100 MB.
        excluded: what must not be chosen.
        negatives: ``opposite``: a source's negative is a target and vice versa (bitext). ``any``: from either side
            (paraphrase data, in the paper). ``same``: a source's is a source, a target's a target (ParaNMT-50M, section
            4, whose anchors are all sources).
        of_targets: as in :func:`mine_by_kind`.
        reduced, chunk_rows: as in :func:`psp.training.negatives.nearest.nearest`.
    """
    pairs = len(source)
    sides = {"source": source, "target": target}
    for vectors in sides.values():
        functional.normalize(vectors, dim=1, out=vectors)
    best = {side: Nearest.none(pairs) for side in sides}
    anchors = {"source": 0, "target": pairs} if of_targets else {"source": 0}
    how: dict[str, Any] = {"places": excluded.places, "reduced": reduced, "chunk_rows": chunk_rows}
    if negatives != "same":
        of_rows, of_columns = nearest(sides["source"], sides["target"], both=of_targets, **how)
        best["source"].offer(slice(None), of_rows, shift=pairs)
        best["target"].offer(slice(None), of_columns)
    if negatives in ("any", "same"):
        for side, shift in anchors.items():
            hardest, _ = nearest(sides[side], sides[side], both=False, **how)
            best[side].offer(slice(None), hardest, shift=shift)
    for hardest in best.values():
        hardest.index[np.isneginf(hardest.value)] = -1
    return Negatives(best["source"].index, best["target"].index)


def draw(excluded: Excluded, pairs: int, generator: np.random.Generator) -> Negatives:
    """Draw each sentence's negative from the other side, uniformly among those allowed."""
    columns = np.arange(pairs)
    sides = []
    for shift in (pairs, 0):
        chosen = generator.integers(0, pairs, pairs)
        left = np.flatnonzero(~excluded.allowed(columns, chosen))
        for _ in range(DRAWS):
            chosen[left] = generator.integers(0, pairs, len(left))
            left = left[~excluded.allowed(left, chosen[left])]
        for row in left:  # nearly all are excluded: choose among the rest
            candidates = columns[excluded.allowed(np.full(pairs, row), columns)]
            chosen[row] = generator.choice(candidates) if len(candidates) else -1
        sides.append(np.where(chosen < 0, -1, chosen + shift))
    return Negatives(*sides)
