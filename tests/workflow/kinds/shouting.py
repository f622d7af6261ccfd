"""The filter ``shouting``: drop pairs in capitals."""

from __future__ import annotations

from psp.pairs.filters.base import SIDES, Batch, Filter


class ShoutingFilter(Filter):
    """Drops pairs with a side of at least ``min`` characters that is all in capitals."""

    name = "shouting"
    order = 14

    def __call__(self, batch: Batch) -> list[str | None]:
        sides = [getattr(batch, side) for side in SIDES[self.settings["sides"]]]
        return [
            "shouting" if any(len(text) >= self.settings["min"] and text.isupper() for text in pair) else None
            for pair in zip(*sides, strict=True)
        ]
