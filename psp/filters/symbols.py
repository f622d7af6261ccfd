"""Drop pairs with a side that is mostly digits and symbols: tables, file names, codes, rulers of dashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from psp import characters
from psp.filters.contract import SIDES, Batch, Filter


class SymbolsFilter(Filter):
    """Drops pairs with a side of whose characters more than the share ``max`` are not letters.

    White space is not counted; what is a letter in any script (ideographs are) or a combining mark counts as a letter,
    all else (digits, punctuation, symbols, control characters) does not.
    """

    name = "symbols"
    order = 13
    defaults: ClassVar[Mapping[str, Any]] = {"sides": "both", "max": 0.6}

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
        self.max = self.settings["max"]
        if isinstance(self.max, bool) or not isinstance(self.max, int | float) or not 0 <= self.max <= 1:
            raise self.wrong("max", self.max, "must be a share, from 0.0 to 1.0")

    def __call__(self, batch: Batch) -> list[str | None]:
        reasons: list[str | None] = [None] * len(batch)
        for side in SIDES[self.settings["sides"]]:
            found = symbol_shares(batch.source if side == "source" else batch.target)
            for row in np.flatnonzero(found > self.max).tolist():
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
