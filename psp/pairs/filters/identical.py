"""Drop pairs with identical sides: untranslated text, or names and codes that need no translation."""

from __future__ import annotations

from collections import Counter

from psp.pairs.filters.base import Batch, Filter
from psp.text.keys import differ_at_the_start, normalised_key
from psp.text.words import words


class IdenticalFilter(Filter):
    """Drops pairs whose sides have the same letters and digits (:func:`psp.text.keys.normalised_key`).

    With ``near``, also pairs with at least this share of words in common (:func:`shared_words`), in any order.
    """

    name = "identical"
    order = 15

    def __call__(self, batch: Batch) -> list[str | None]:
        reasons: list[str | None] = [None] * len(batch)
        for row, (source, target) in enumerate(zip(batch.source, batch.target, strict=True)):
            if same(source, target):
                reasons[row] = "identical"
        if (near := self.settings["near"]) is not None:
            for row, (source, target) in enumerate(zip(batch.source_tokens, batch.target_tokens, strict=True)):
                if reasons[row] is None and shared_words(source, target) >= near:
                    reasons[row] = "identical: nearly"
        return reasons


def same(source: str, target: str) -> bool:
    """Whether two texts have the same normalised key."""
    # Nine pairs of ten end here, so keys are seldom made.
    one, other = source[:3].lower(), target[:3].lower()
    if one != other and one.isascii() and other.isascii() and one.isalnum() and other.isalnum():
        return False
    if differ_at_the_start(source, target):
        return False
    return normalised_key(source) == normalised_key(target)


def shared_words(source: str, target: str) -> float:
    """The words that two texts share, over those of the text with more: 0 to 1.

    Words are case-folded and punctuation is left out; a word that occurs twice on both sides is shared twice.
    """
    one, other = [Counter(words(text.casefold(), marks=False)) for text in (source, target)]
    return (one & other).total() / max(one.total(), other.total(), 1)
