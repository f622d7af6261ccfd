"""sacrebleu's BLEU and chrF of translations, and counts of their other faults."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from psp.core.errors import from_extra

# BLEU's `force` silences a warning about spaces before full stops, which untrained translators write.
#: sacrebleu's tokenization for languages that do not put spaces between words; 13a for all others.
_TOKENIZE = {"zh": "zh", "ja": "char", "ko": "char", "th": "char"}


def _metrics(language: str, lowercase: bool = False) -> dict[str, Any]:
    with from_extra("translate", "scores of translations need sacrebleu"):
        from sacrebleu import metrics
    return {
        "bleu": metrics.BLEU(force=True, tokenize=_TOKENIZE.get(language, "13a"), lowercase=lowercase),
        "chrf": metrics.CHRF(lowercase=lowercase),
    }


def _value(metric: Any, hypotheses: Sequence[str], references: Sequence[str]) -> float:
    return round(float(metric.corpus_score(list(hypotheses), [list(references)]).score), 2)


def bleu(hypotheses: Sequence[str], references: Sequence[str], language: str) -> float:
    """Corpus BLEU (Papineni et al. 2002), cased, 0 to 100, of texts in a language, each with one reference."""
    return _value(_metrics(language)["bleu"], hypotheses, references)


def scores(hypotheses: Sequence[str], references: Sequence[str], language: str) -> dict[str, float]:
    """BLEU and chrF (Popović 2015), 0 to 100, cased and, as ``lower_...``, lower-cased.

    Raises:
        PspError: sacrebleu is missing.
    """
    return {
        prefix + name: _value(metric, hypotheses, references)
        for prefix, lower in (("", False), ("lower_", True))
        for name, metric in _metrics(language, lower).items()
    }


def signatures(language: str) -> dict[str, str]:
    """sacrebleu's description of each score, by which others can repeat it."""
    metrics = _metrics(language)
    for metric in metrics.values():
        metric.corpus_score(["a"], [["a"]])  # only then it knows the number of references
    return {name: str(metric.get_signature()) for name, metric in metrics.items()}


def faults(sources: Sequence[str], hypotheses: Sequence[str], overlong: Sequence[bool]) -> dict[str, int]:
    """Translations that are their source, that are empty, and that did not end by themselves."""
    return {
        "copies": sum(source == text for source, text in zip(sources, hypotheses, strict=True)),
        "empty": sum(not text.strip() for text in hypotheses),
        "overlong": sum(overlong),
    }
