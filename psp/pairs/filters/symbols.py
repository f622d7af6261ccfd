"""Drop pairs with a side that is mostly digits and symbols: tables, file names, codes, rulers of dashes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from psp.pairs.filters.base import SIDES, Batch, Filter
from psp.text import characters


class SymbolsFilter(Filter):
    """Drops pairs with a side in which the share of characters that are not letters is above ``max``.

    White space is not counted. Letters of any script (including ideographs) and combining marks count as letters;
    everything else (digits, punctuation, symbols, control characters) does not.
    """

    name = "symbols"
    order = 13

    def __call__(self, batch: Batch) -> list[str | None]:
        reasons: list[str | None] = [None] * len(batch)
        for side in SIDES[self.settings["sides"]]:
            shares = symbol_shares(batch.source if side == "source" else batch.target)
            for row in np.flatnonzero(shares > self.settings["max"]).tolist():
                if reasons[row] is None:
                    reasons[row] = f"symbols: {side} has too many"
        return reasons

    def prepare(self) -> None:
        characters.prepare()


def symbol_shares(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """For each text, the share of its characters, white space excluded, that are not letters; 0 for an empty text."""
    kinds = characters.Characters(texts)
    others = kinds.count(characters.MARK) + kinds.count(characters.OTHER)
    return others / np.maximum(kinds.sizes - kinds.count(characters.SPACE), 1)
