"""Encoded pairs as training reads them, and the protocol of their sources: a store, or text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from psp.core.logs import Progress
from psp.text.tokenizer import Encoded

BLOCK_PAIRS = 4096  # read at a time; the order of blocks is drawn at random
COUNTED = 65_536  # pairs read at a time to be counted, 5 MB


@dataclass(frozen=True)
class Pairs:
    """Aligned sentences: source i and target i are a pair.

    ``paraphrase`` says whether both sides of a pair are in one language; bool, shape (pairs,). ``teacher_rows`` has the
    rows of both sides among a teacher's vectors (:mod:`psp.training.teaching.targets`), int32, shape (pairs, 2); None
    without a teacher.
    """

    source: Encoded
    target: Encoded
    paraphrase: npt.NDArray[np.bool_]
    teacher_rows: npt.NDArray[np.int32] | None = None

    def __len__(self) -> int:
        return len(self.source)

    def take(self, rows: npt.NDArray[np.int64]) -> Pairs:
        """Select the pairs ``rows``, in that order."""
        teacher_rows = None if self.teacher_rows is None else self.teacher_rows[rows]
        return Pairs(self.source.take(rows), self.target.take(rows), self.paraphrase[rows], teacher_rows)

    @staticmethod
    def join(parts: list[Pairs]) -> Pairs:
        """Concatenate ``parts``."""
        return Pairs(
            Encoded.join([part.source for part in parts]),
            Encoded.join([part.target for part in parts]),
            np.concatenate([part.paraphrase for part in parts]),
            joined([part.teacher_rows for part in parts]),
        )


def joined(parts: Sequence[npt.NDArray[np.int32] | None]) -> npt.NDArray[np.int32] | None:
    """Concatenate :attr:`Pairs.teacher_rows` of several; None if they have no teacher."""
    known = [part for part in parts if part is not None]
    return np.concatenate(known) if known else None


class PairSource(Protocol):
    """Where pairs come from: :class:`psp.pairs.store.Store`, :class:`psp.pairs.text_pairs.TextPairs`, or the like."""

    def __len__(self) -> int: ...

    def read(self, start: int, stop: int) -> Any:
        """Pairs start..stop: ``source`` and ``target``, each with ``ids`` and ``offsets``; ``paraphrase``; with a
        teacher ``teacher_rows``.

        Each epoch calls it from a thread of its own, one thread at a time.
        """
        ...


class ChangedPairs:
    """Pairs of another source, each block changed after it is read.

    Args:
        pairs: the source.
        change: gets a block and the number of its first pair.
    """

    def __init__(self, pairs: PairSource, change: Callable[[Any, int], Any]) -> None:
        self._pairs, self._change = pairs, change

    def __len__(self) -> int:
        return len(self._pairs)

    def read(self, start: int, stop: int) -> Any:
        """Read pairs ``start`` to ``stop``."""
        return self._change(self._pairs.read(start, stop), start)


def count_pieces(source: PairSource, pieces: int) -> npt.NDArray[np.int64]:
    """Count how often each piece occurs in the pairs, both sides together, int64 (pieces,)."""
    counts = np.zeros(pieces, np.int64)
    with Progress("counting pieces", "pairs", len(source)) as progress:
        for start in range(0, len(source), COUNTED):
            block = source.read(start, min(start + COUNTED, len(source)))
            for side in (block.source, block.target):
                counts += np.bincount(side.ids, minlength=pieces)
            progress.add(min(COUNTED, len(source) - start))
    return counts
