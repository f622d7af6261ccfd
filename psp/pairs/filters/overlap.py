"""Drop pairs whose sides say the same in the same words, by their shared word trigrams.

The paper (section 3.2) keeps paraphrases with an overlap of at most 0.7: a copy teaches a model nothing. In bitext
the filter finds lines that were left untranslated but for a word or two.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from psp.core.errors import PspError
from psp.core.settings import Setting, choice, flag, number
from psp.pairs.filters.contract import Batch, Filter
from psp.text.words import words

Tokenizer = Callable[[str], list[str]]


def trigram_overlap(source: Sequence[str], target: Sequence[str], repeated: str = "once") -> float:
    """Shared word trigrams over the trigrams of the sentence with fewer: 0 to 1; 0 when a side has under 3 tokens.

    Args:
        source, target: tokens.
        repeated: how a trigram counts that a sentence has several times. ``once``: once, on both sides. ``each``: as
            often as the side with fewer tokens has it (the source, where both have as many), as the published code
            does.
    """
    if len(source) < 3 or len(target) < 3:
        return 0.0
    one = list(zip(source, source[1:], source[2:], strict=False))
    other = list(zip(target, target[1:], target[2:], strict=False))
    if repeated == "once":
        distinct, others = set(one), set(other)
        return len(distinct & others) / min(len(distinct), len(others))
    if len(other) < len(one):
        one, other = other, one
    others = set(other)
    return sum(trigram in others for trigram in one) / len(one)


class OverlapFilter(Filter):
    """Drops pairs with a trigram overlap (:func:`trigram_overlap`) above ``max``.

    Trigrams are of the lower-cased tokens of the segmented text. ``tokens: words`` takes :func:`psp.text.words.words`;
    ``treebank`` takes nltk's tokenizer of words, which the published code uses, but not its model of sentences (that
    is a download of its own): a full stop inside a text stays with its word.

    Raises:
        PspError: ``tokens: treebank`` without nltk.
    """

    name = "overlap"
    order = 40
    help = "word trigrams that both sides have, over those of the side with fewer (0 under three words)"
    declared: ClassVar[Mapping[str, Setting]] = {
        "enabled": flag(
            False,
            help="drop a pair with too large an overlap, as the paper does with ParaNMT; finds copies in bitext",
        ),
        "max": number(0.7, at_least=0, at_most=1, noun="a share", help="largest overlap"),
        "repeated": choice(
            "once",
            ["once", "each"],
            recipes={"code": "each"},
            help="how a repeated trigram counts: once, or as often as the shorter side has it (published code)",
        ),
        "tokens": choice(
            "words",
            ["words", "treebank"],
            recipes={"code": "treebank"},
            help="words and punctuation marks by our own rule, or by nltk's (needs the extra nltk)",
        ),
    }

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
        self.max, self.repeated = self.settings["max"], self.settings["repeated"]
        self._tokenize: Tokenizer = _treebank() if self.settings["tokens"] == "treebank" else words

    def __call__(self, batch: Batch) -> list[str | None]:
        reasons: list[str | None] = [None] * len(batch)
        tokenize, limit, once = self._tokenize, self.max, self.repeated == "once"
        for row, (source, target) in enumerate(zip(batch.source_tokens, batch.target_tokens, strict=True)):
            one, other = tokenize(source.lower()), tokenize(target.lower())
            # Half the work: without a shared trigram (nearly all of bitext) there is nothing to count.
            trigrams = set(zip(one, one[1:], one[2:], strict=False))
            if trigrams.isdisjoint(zip(other, other[1:], other[2:], strict=False)):
                continue
            if once:
                others = set(zip(other, other[1:], other[2:], strict=False))
                overlap = len(trigrams & others) / min(len(trigrams), len(others))
            else:
                overlap = trigram_overlap(one, other, "each")
            if overlap > limit:
                reasons[row] = "overlap: too high"
        return reasons


def _treebank() -> Tokenizer:
    try:
        from nltk.tokenize import NLTKWordTokenizer
    except ModuleNotFoundError:
        raise PspError(
            "filters.overlap.tokens: treebank needs nltk: pip install 'psp[nltk]', or write 'tokens: words'"
        ) from None
    return NLTKWordTokenizer().tokenize
