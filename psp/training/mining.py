"""Mining: for each sentence of a mega-batch, the most similar sentence that is not its own pair (paper, section 3.2).

The vectors of both sides meet in a matrix product that is made chunk by chunk, so that memory is bounded; its rows
give the hardest target of each source and, in the same pass, its columns the hardest source of each target.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn import functional

from psp.training.batches import Pairs, Sentences

CHUNK_ROWS = 512  # of 7,680 columns: 16 MB; larger chunks made the maxima over columns 2 to 6 times slower


@dataclass(frozen=True)
class Negatives:
    """The negative of each sentence, by its number among all 2n sentences: sources 0..n-1, targets n..2n-1.

    Attributes:
        source: the negative of each source, int64, shape (n,); -1 where every candidate was masked.
        target: the negative of each target, likewise.
    """

    source: npt.NDArray[np.int64]
    target: npt.NDArray[np.int64]


class Excluded:
    """Which pairs of a mega-batch must not serve as each other's negatives.

    A pair never serves itself. With ``mask_equal``, neither do two pairs that share a text, on whichever sides: where
    sources are equal, the other target is a translation too; where targets are equal, it is the positive itself; and
    where a source equals a target (same-language data, or "OK" in two languages), it is the anchor or its paraphrase.
    Without it such pairs would be pushed apart although they mean the same.

    Texts are compared by 64-bit hashes of their ids, and the excluded places are listed, so that nothing is compared
    with everything.
    """

    def __init__(self, source: Sentences, target: Sentences, mask_equal: bool) -> None:
        pairs = len(source)
        keys = (
            np.concatenate([text_hashes(source), text_hashes(target)]) if mask_equal else np.tile(np.arange(pairs), 2)
        )
        order = np.argsort(keys, kind="stable")
        ordered = keys[order]
        self._pairs = pairs
        self._members = order % max(pairs, 1)  # pairs in the order of their texts' hashes: equal texts are neighbours
        self._starts = np.searchsorted(ordered, keys, side="left")
        self._stops = np.searchsorted(ordered, keys, side="right")

    def places(self, start: int, stop: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Excluded (row - start, column) for the rows start..stop of the n x n similarities; some come twice.

        The relation is symmetric: the same places serve sources against targets and either side against itself.
        """
        texts = np.concatenate([np.arange(start, stop), np.arange(start, stop) + self._pairs])
        starts, lengths = self._starts[texts], self._stops[texts] - self._starts[texts]
        total = int(lengths.sum())
        firsts = np.cumsum(lengths) - lengths
        places = np.arange(total) + np.repeat(starts - firsts, lengths)
        return np.repeat(np.tile(np.arange(stop - start), 2), lengths), self._members[places]


def text_hashes(sentences: Sentences) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of each sentence's ids, shape (sentences,).

    The sum of a strongly mixed (id, position), which needs no loop over sentences. Among the 15,360 texts of a large
    mega-batch two unequal ones share a hash with a probability of about 1e-11.
    """
    positions = np.arange(len(sentences.ids)) - np.repeat(sentences.offsets[:-1], np.diff(sentences.offsets))
    mixed = _mix(sentences.ids.astype(np.uint64) + (positions.astype(np.uint64) << np.uint64(32)))
    sums = np.zeros(len(mixed) + 1, dtype=np.uint64)
    np.cumsum(mixed, out=sums[1:])  # wraps around at 2^64, and so do the differences
    return sums[sentences.offsets[1:]] - sums[sentences.offsets[:-1]]


def _mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A bijection of 64-bit numbers that scatters neighbours (the finaliser of SplitMix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def mine_by_kind(
    pairs: Pairs, source: Tensor, target: Tensor, *, negatives: str, mask_equal: bool, chunk_rows: int = CHUNK_ROWS
) -> Negatives:
    """The negatives of a mega-batch in which bitext and paraphrases may stand side by side.

    An anchor's candidates are sentences of its own kind of pairs: beside a French sentence, an English one's
    paraphrase would be a candidate of the wrong language. So each kind is mined by itself, which is also less work
    than one product with the other kind masked.

    Args:
        pairs: the mega-batch.
        source, target: its vectors, shape (pairs, dim).
        negatives: ``auto``: paraphrases take any sentence, bitext the opposite side (the paper); or ``opposite`` or
            ``any`` for both kinds, as in :func:`mine`.
        mask_equal: as in :class:`Excluded`.
    """
    found = Negatives(np.full(len(pairs), -1), np.full(len(pairs), -1))
    for paraphrase in (False, True):
        rows = np.flatnonzero(pairs.paraphrase == paraphrase)
        if not len(rows):
            continue
        some, vectors = pairs, (source, target)
        if len(rows) < len(pairs):
            chosen = torch.from_numpy(rows).to(source.device)
            some, vectors = pairs.take(rows), (source[chosen], target[chosen])
        candidates = {"auto": "any" if paraphrase else "opposite"}.get(negatives, negatives)
        part = mine(*vectors, Excluded(some.source, some.target, mask_equal), candidates, chunk_rows)
        # Numbers among the 2m sentences of this kind to numbers among all 2n; -1, for none, is the last and stays.
        numbers = np.concatenate([rows, rows + len(pairs), [-1]])
        found.source[rows], found.target[rows] = numbers[part.source], numbers[part.target]
    return found


def mine(source: Tensor, target: Tensor, excluded: Excluded, negatives: str, chunk_rows: int = CHUNK_ROWS) -> Negatives:
    """The most similar allowed sentence for each source and each target, by cosine.

    Args:
        source, target: vectors of the mega-batch's pairs, shape (n, dim), made with dropout off.
        excluded: what must not be chosen.
        negatives: ``opposite``: a source's negative is a target and the other way round (bitext). ``any``: from
            either side (paraphrase data, in the paper).
        chunk_rows: rows of the similarity matrix that are held at a time (n floats each).
    """
    pairs = len(source)
    source, target = functional.normalize(source, dim=1), functional.normalize(target, dim=1)
    device = source.device
    best = {side: _Best(pairs, device) for side in ("source", "target")}
    for start in range(0, pairs, chunk_rows):
        stop = min(start + chunk_rows, pairs)
        places = tuple(torch.from_numpy(index).to(device) for index in excluded.places(start, stop))
        rows = slice(start, stop)
        similarity = _masked(source[rows], target, places)
        best["source"].offer(rows, *similarity.max(dim=1), shift=pairs)
        best["target"].offer(slice(None), *similarity.max(dim=0), shift=start)
        if negatives == "any":
            for name, side, shift in (("source", source, 0), ("target", target, pairs)):
                best[name].offer(rows, *_masked(side[rows], side, places).max(dim=1), shift=shift)
    return Negatives(best["source"].sentences(), best["target"].sentences())


def _masked(rows: Tensor, columns: Tensor, places: tuple[Tensor, ...]) -> Tensor:
    similarity = rows @ columns.T
    similarity[places] = -torch.inf
    return similarity


class _Best:
    """The running maximum of one side's similarities; of equals, the one offered first stays."""

    def __init__(self, pairs: int, device: torch.device) -> None:
        self._value = torch.full((pairs,), -torch.inf, device=device)
        self._index = torch.full((pairs,), -1, dtype=torch.int64, device=device)

    def offer(self, rows: slice, value: Tensor, index: Tensor, shift: int) -> None:
        better = value > self._value[rows]
        self._value[rows] = torch.where(better, value, self._value[rows])
        self._index[rows] = torch.where(better, index + shift, self._index[rows])

    def sentences(self) -> npt.NDArray[np.int64]:
        return self._index.cpu().numpy()
