"""Paraphrases of sentences, by a translator from a language into itself (ParaNMT-50M, section 6).

The translator's hypotheses are ordered by how much of the meaning they keep, minus how much of the wording: the cosine
to the sentence by an encoder, minus a weight times the share of common word trigrams.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from psp.core.errors import ConfigError, from_extra
from psp.inference.translation.base import Translator
from psp.models.cosines import text_cosines
from psp.models.registry import TextEncoder
from psp.text.keys import normalised_key
from psp.text.words import trigram_overlap, words

#: How much a whole copy of a sentence's trigrams counts against the cosine: on 500 development pairs the largest before
#: chrF to the other side falls (39.6 with 0.05, 39.5, 39.0 with 0.3).
OVERLAP_WEIGHT = 0.2


class Paraphrase(NamedTuple):
    """A paraphrase of a sentence.

    Attributes:
        text: the paraphrase.
        cosine: to the sentence, -1 to 1.
        overlap: word trigrams that both have, divided by those of the one with fewer, 0 to 1, in lower case.
        score: the translator's, the mean log-probability of a subword; None if it does not report it.
    """

    text: str
    cosine: float
    overlap: float
    score: float | None


def paraphrase(
    texts: Sequence[str],
    translator: Translator,
    encoder: TextEncoder,
    *,
    k: int = 5,
    candidates: int | None = None,
    overlap_weight: float = OVERLAP_WEIGHT,
    canonical: bool = False,
) -> list[list[Paraphrase]]:
    """Find paraphrases of sentences.

    Args:
        texts: sentences, in their own case.
        translator: from their language into itself.
        encoder: gives the cosines.
        k: paraphrases of each sentence at most.
        candidates: hypotheses of each, from which they are taken; by default k.
        overlap_weight: how much of the overlap is subtracted from the cosine to order them.
        canonical: take the translator's hypotheses in its own order, and the sentence itself if it is one: for a
            canonicaliser, which leaves correct text alone, while the cosine would prefer text with the same errors.

    Returns:
        For each sentence its paraphrases, no two of them with the same letters and digits, the best first; none for one
        without text, or with only copies as hypotheses.

    Raises:
        ConfigError: ``k`` is below 1, or there are fewer candidates than that.
        TranslatorError: the translator failed.
    """
    candidates = k if candidates is None else candidates
    if k < 1:
        raise ConfigError(f"{k} paraphrases of each sentence; ask for at least one")
    if candidates < k:
        raise ConfigError(f"{k} paraphrases of each sentence out of {candidates} candidates; ask for {k} or more")
    kept = []
    for text, hypotheses in zip(texts, translator.translate(texts, n=candidates), strict=True):
        seen = set() if canonical else {normalised_key(text)}
        own = []
        for hypothesis in hypotheses:
            if hypothesis.text and (key := normalised_key(hypothesis.text)) not in seen:
                seen.add(key)
                own.append(hypothesis)
        kept.append(own)
    pairs = [(text, one.text) for text, own in zip(texts, kept, strict=True) for one in own]
    cosines = text_cosines(encoder.embed, pairs)
    answers, place = [], 0
    for text, own in zip(texts, kept, strict=True):
        mine = words(text.lower())
        rated = [
            Paraphrase(one.text, float(cosine), trigram_overlap(mine, words(one.text.lower())), one.score)
            for one, cosine in zip(own, cosines[place : place + len(own)], strict=True)
        ]
        place += len(own)
        if not canonical:
            rated.sort(
                key=lambda one: overlap_weight * one.overlap - one.cosine
            )  # stable: then as the translator has it
        answers.append(rated[:k])
    return answers


def measured(
    texts: Sequence[str], paraphrases: Sequence[Sequence[Paraphrase]], references: Sequence[str] | None = None
) -> dict[str, Any]:
    """Figures over all paraphrases and, as ``best``, over the first of each sentence.

    Args:
        texts: the sentences.
        paraphrases: those of each.
        references: a paraphrase of each sentence by someone else; None for none.

    Returns:
        ``sentences``; ``none``, those without a paraphrase; for ``best`` and ``all``: ``paraphrases``, their number;
        the means of ``cosine`` and ``overlap``; ``unchanged``, the share of those with the letters and digits of their
        sentence; and with references chrF to these (Popović 2015), 0 to 100. Without any, all but the numbers are None.

    Raises:
        PspError: there are references, but sacrebleu is missing.
    """
    filled = [place for place, own in enumerate(texts) if own.strip()]
    groups = {
        "best": [(place, paraphrases[place][0]) for place in filled if paraphrases[place]],
        "all": [(place, one) for place in filled for one in paraphrases[place]],
    }
    return {
        "sentences": len(filled),
        "none": sum(not paraphrases[place] for place in filled),
        **{name: _figures(texts, group, references) for name, group in groups.items()},
    }


def _figures(
    texts: Sequence[str], group: Sequence[tuple[int, Paraphrase]], references: Sequence[str] | None
) -> dict[str, Any]:
    copied = [normalised_key(texts[place]) == normalised_key(one.text) for place, one in group]
    figures: dict[str, Any] = {
        "paraphrases": len(group),
        "cosine": _mean(one.cosine for _, one in group),
        "overlap": _mean(one.overlap for _, one in group),
        "unchanged": _mean(copied),
    }
    if references is not None:
        figures["chrf"] = _chrf([one.text for _, one in group], [references[place] for place, _ in group])
    return figures


def _mean(values: Iterable[float]) -> float | None:
    numbers = list(values)
    return round(sum(numbers) / len(numbers), 4) if numbers else None


def _chrf(hypotheses: Sequence[str], references: Sequence[str]) -> float | None:
    with from_extra("translate", "chrF needs sacrebleu"):
        from sacrebleu import metrics
    if not hypotheses:
        return None
    return round(float(metrics.CHRF().corpus_score(list(hypotheses), [list(references)]).score), 2)
