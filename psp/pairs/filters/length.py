"""Drop pairs with too few or too many words (paper, section 3.1: 3 to 100 are kept)."""

from __future__ import annotations

from psp.pairs.filters.base import SIDES, Batch, Filter
from psp.text.words import unspaced_word_count, word_count, words


class LengthFilter(Filter):
    """Drops pairs with a side of fewer than ``min`` or more than ``max`` tokens.

    Tokens are separated by white space; in a segmented language they are counted after segmentation. With
    ``tokens: words`` they are words, so that punctuation that stands alone does not count. In a language that has
    neither spaces nor a segmenter, they are estimated from characters (:func:`psp.text.words.unspaced_word_count`), as
    words of other languages that would say the same. ``sides`` selects
    the sides to check. For bitext the published code checks only the English side (``source``), and so keeps pairs of
    a sentence and a paragraph; for ParaNMT it checks the ``average`` of both sides.
    """

    name = "length"
    order = 10

    def __call__(self, batch: Batch) -> list[str | None]:
        least, most = self.settings["min"], self.settings["max"]
        spaced = word_count if self.settings["tokens"] == "spaces" else _words
        sizes = [unspaced_word_count if unspaced else spaced for unspaced in batch.unspaced]
        reasons: list[str | None] = [None] * len(batch)
        if self.settings["sides"] == "average":
            for row, (source, target) in enumerate(zip(batch.source_tokens, batch.target_tokens, strict=True)):
                both = sizes[0](source) + sizes[1](target)
                if not 2 * least <= both <= 2 * most:
                    reasons[row] = "length: average too short" if both < 2 * least else "length: average too long"
            return reasons
        for side in SIDES[self.settings["sides"]]:
            too_short, too_long = f"length: {side} too short", f"length: {side} too long"
            size, column = (sizes[0], batch.source_tokens) if side == "source" else (sizes[1], batch.target_tokens)
            for row, count in enumerate(map(size, column)):
                if not least <= count <= most and reasons[row] is None:
                    reasons[row] = too_short if count < least else too_long
        return reasons


def _words(text: str) -> int:
    return len(words(text, marks=False))
