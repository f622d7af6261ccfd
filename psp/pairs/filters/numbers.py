"""Drop pairs whose sides differ in their numbers, which paraphrases keep and embeddings blur.

On by default only for mined pairs (docs/guide/paraphrases.md): bitext too often spells out numbers or formats them
differently.
"""

from __future__ import annotations

import re
import unicodedata

from psp.pairs.filters.base import Batch, Filter


class NumbersFilter(Filter):
    """Drops pairs whose sides differ in their sets of runs of decimal digits, of any script (:func:`numbers`)."""

    name = "numbers"
    order = 16

    def __call__(self, batch: Batch) -> list[str | None]:
        return [
            "numbers" if numbers(source) != numbers(target) else None
            for source, target in zip(batch.source, batch.target, strict=True)
        ]


def numbers(text: str) -> frozenset[str]:
    """The runs of decimal digits in a text, in ASCII digits: 1,000 is 1 and 000."""
    return frozenset(
        run if run.isascii() else "".join(str(unicodedata.decimal(digit)) for digit in run)
        for run in re.findall(r"\d+", text)
    )
