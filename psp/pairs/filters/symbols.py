"""Drop pairs with a side that is mostly digits and symbols: tables, file names, codes, rulers of dashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np
import numpy.typing as npt

from psp.core.settings import Setting, choice, flag, number
from psp.pairs.filters.contract import SIDES, Batch, Filter
from psp.text import characters


class SymbolsFilter(Filter):
    """Drops pairs with a side of whose characters more than the share ``max`` are not letters.

    White space is not counted; what is a letter in any script (ideographs are) or a combining mark counts as a letter,
    all else (digits, punctuation, symbols, control characters) does not.
    """

    name = "symbols"
    order = 13
    help = "digits, punctuation and symbols (what is not a letter of some script; white space is not counted)"
    declared: ClassVar[Mapping[str, Setting]] = {
        "enabled": flag(False, help="drop a pair with a side that is mostly digits and symbols"),
        "sides": choice("both", [*SIDES], help="which sides are looked at"),
        "max": number(
            0.6,
            at_least=0,
            at_most=1,
            noun="a share",
            help="largest share of a side's characters that are not letters",
        ),
    }

    def __call__(self, batch: Batch) -> list[str | None]:
        reasons: list[str | None] = [None] * len(batch)
        for side in SIDES[self.settings["sides"]]:
            found = symbol_shares(batch.source if side == "source" else batch.target)
            for row in np.flatnonzero(found > self.settings["max"]).tolist():
                if reasons[row] is None:
                    reasons[row] = f"symbols: {side} has too many"
        return reasons

    def prepare(self) -> None:
        characters.prepare()


def symbol_shares(texts: Sequence[str]) -> npt.NDArray[np.float64]:
    """For each text the share of its characters, white space left out, that are not letters; 0 for an empty text."""
    found = characters.Characters(texts)
    others = found.count(characters.MARK) + found.count(characters.OTHER)
    return others / np.maximum(found.sizes - found.count(characters.SPACE), 1)
