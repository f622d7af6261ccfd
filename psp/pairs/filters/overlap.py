"""Drop pairs whose sides use the same words, by their shared word trigrams.

The paper (section 3.2) keeps paraphrases with an overlap of at most 0.7: a model learns nothing from a copy. In bitext
the filter finds lines left untranslated except for a word or two.
"""

from __future__ import annotations

from collections.abc import Callable

from psp.core.errors import PspError
from psp.pairs.filters.base import Batch, Filter
from psp.text.words import trigram_overlap, unspaced_words, words

Tokenizer = Callable[[str], list[str]]


class OverlapFilter(Filter):
    """Drops pairs with a trigram overlap (:func:`trigram_overlap`) above ``max``.

    Trigrams are taken over the lower-cased tokens of the segmented text. ``tokens: words`` uses
    :func:`psp.text.words.words`; ``treebank`` uses nltk's word tokenizer, as the published code does, but not its
    sentence splitter (a separate download): a full stop inside a text stays with its word.

    Raises:
        PspError: ``tokens: treebank`` without nltk.
    """

    name = "overlap"
    order = 40

    def set_up(self) -> None:
        self._tokenize: Tokenizer = _treebank() if self.settings["tokens"] == "treebank" else words

    def __call__(self, batch: Batch) -> list[str | None]:
        reasons: list[str | None] = [None] * len(batch)
        limit = self.settings["max"]
        unspaced = any(batch.unspaced)
        for row, (source, target) in enumerate(zip(batch.source_tokens, batch.target_tokens, strict=True)):
            if self.overlap(source, target, unspaced) > limit:
                reasons[row] = "overlap: too high"
        return reasons

    def overlap(self, source: str, target: str, unspaced: bool = False) -> float:
        """The trigram overlap of a pair; of an ``unspaced`` language, each character of its script is a word."""
        tokenize = unspaced_words if unspaced else self._tokenize
        one, other = tokenize(source.lower()), tokenize(target.lower())
        # Saves half the work: pairs without a shared trigram (nearly all of bitext) need no count.
        trigrams = set(zip(one, one[1:], one[2:], strict=False))
        if trigrams.isdisjoint(zip(other, other[1:], other[2:], strict=False)):
            return 0.0
        if self.settings["repeated"] == "once":
            others = set(zip(other, other[1:], other[2:], strict=False))
            return len(trigrams & others) / min(len(trigrams), len(others))
        return trigram_overlap(one, other, "each")


def _treebank() -> Tokenizer:
    try:
        from nltk.tokenize import NLTKWordTokenizer
    except ModuleNotFoundError:
        raise PspError(
            "filters.overlap.tokens: treebank needs nltk: pip install 'paraphrastic[nltk]', or write 'tokens: words'"
        ) from None
    return NLTKWordTokenizer().tokenize
