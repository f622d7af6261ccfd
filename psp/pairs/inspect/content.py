"""Describe the texts of a sample: words, scripts, languages, digits, copies, vowel marks; and run filters on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from psp.core.errors import ConfigError, DataError
from psp.models.registry import load_encoder
from psp.models.similarity import cosines
from psp.pairs.filters import Batch, Filter, RowError, build, names
from psp.pairs.filters.identical import same
from psp.pairs.filters.language import LanguageFilter
from psp.pairs.filters.numbers import numbers
from psp.pairs.inspect.reading import QUANTILES, Sampled
from psp.text.characters import Characters
from psp.text.languages import LID_LABELS, lid_label, varieties
from psp.text.scripts import letters_by_script
from psp.text.segment import Segmenter, unspaced_sides
from psp.text.words import unspaced_word_count

#: Shorter texts, in letters, are left out where languages are counted: lid.176 guesses at them.
TELLING_LETTERS = 20
#: Labels and scripts that are shown, and the minimum share of one.
MOST_SHOWN, LEAST_SHOWN = 5, 0.005
#: Vowel marks for each letter in a text that is written with them; the Quran's verses have 0.5 to 1.2.
VOWELLED = 0.25
#: Filters that need more than text; they report nothing unless the config asks for them.
_NOT_OFF = frozenset({"custom", "score", "similarity"})
#: Pairs shown of those that a filter would drop, and of those whose words fit worst.
SHOWN = 5


def batch_of(pairs: Sequence[Sampled], languages: tuple[str, str], segmenters: Mapping[str, Segmenter]) -> Batch:
    """The pairs as filters get them."""
    source, target = [pair.source for pair in pairs], [pair.target for pair in pairs]
    source_tokens, target_tokens = (
        list(map(segmenters[language].segment, column)) if language in segmenters else column
        for language, column in zip(languages, (source, target), strict=True)
    )
    scores = [pair.score for pair in pairs if pair.score is not None]
    scored = pairs and len(scores) == len(pairs)
    unspaced = unspaced_sides(languages, segmenters)
    return Batch(source, target, source_tokens, target_tokens, scores if scored else None, unspaced=unspaced)


def side(
    texts: Sequence[str], tokens: Sequence[str], language: str, lid: LanguageFilter, unspaced: bool = False
) -> dict[str, Any]:
    """Describe one side of a sample.

    Args:
        texts: cleaned, in their original case.
        tokens: the same with spaces between words.
        language: the config's code.
        lid: identifies languages.
        unspaced: whether words are estimated from characters.
    """
    kinds = Characters(texts)
    letters = [letters_by_script(text) for text in texts]
    telling = [text for text, some in zip(texts, letters, strict=True) if sum(some.values()) >= TELLING_LETTERS]
    scripts: Counter[str] = Counter()
    for some in letters:
        scripts.update(some)
    visible = int(kinds.sizes.sum() - sum(text.count(" ") for text in texts))
    digits = sum(map(str.isdigit, "".join(texts)))
    words = np.array([*map(unspaced_word_count, texts)], int) if unspaced else Characters(tokens).words()
    return {
        "language": language,
        "words": np.quantile(words, QUANTILES, method="inverted_cdf").astype(int).tolist() if len(texts) else [],
        "digits": digits / max(visible, 1),
        "scripts": _shares(scripts, scripts.total()),
        "labels": _labels(telling, language, lid),
        "vowelled": _vowelled(texts, letters),
    }


def _shares(counts: Counter[str], total: int) -> list[dict[str, Any]]:
    """The most frequent names with their shares of ``total``."""
    first = sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:MOST_SHOWN]
    return [{"name": name, "share": count / total} for name, count in first if count >= LEAST_SHOWN * total]


def _labels(texts: Sequence[str], language: str, lid: LanguageFilter) -> dict[str, Any]:
    """lid.176's labels for the longer texts: ``own`` is the share with the language's label, or a variety's."""
    label = lid_label(language)
    counts = Counter(top for top in lid.top(texts) if top is not None) if texts else Counter()
    own = sum(counts[name] for name in varieties(label)) / len(texts) if texts and label in LID_LABELS else None
    return {
        "label": label if label in LID_LABELS else None,
        "texts": len(texts),
        "own": own,
        "found": _shares(counts, len(texts)),
    }


def _is_mark(character: str) -> bool:
    """Whether a character is an Arabic vowel mark or a sign of recitation."""
    code = ord(character)
    return 0x64B <= code < 0x660 or code == 0x670 or 0x6D6 <= code < 0x6EE


def _vowelled(texts: Sequence[str], letters: Sequence[Mapping[str, int]]) -> float | None:
    """The share of texts with vowel marks among those mostly in Arabic letters; None if these are few."""
    arabic = [
        (text, some["ARABIC"])
        for text, some in zip(texts, letters, strict=True)
        if 2 * some.get("ARABIC", 0) > sum(some.values())
    ]
    if len(arabic) < max(len(texts) / 10, 1):
        return None
    return sum(sum(map(_is_mark, text)) > VOWELLED * count for text, count in arabic) / len(arabic)


def copies(pairs: Sequence[Sampled]) -> float:
    """The share of pairs whose sides have the same letters and digits."""
    return sum(same(pair.source, pair.target) for pair in pairs) / max(len(pairs), 1)


def agreement(pairs: Sequence[Sampled]) -> dict[str, Any]:
    """The share of pairs with equal numbers among those with numbers on both sides; None without such pairs."""
    both = [numbers_of_both for pair in pairs if all(numbers_of_both := (numbers(pair.source), numbers(pair.target)))]
    return {"pairs": len(both), "same": sum(one == other for one, other in both) / len(both) if both else None}


def similarity(pairs: Sequence[Sampled], batch: Batch, encoder: str, most: int) -> dict[str, Any]:
    """Cosines of the first pairs' sides by an encoder, and of the same sides in other pairs.

    Returns:
        ``pairs``; quantiles of both, ``own`` and ``exchanged``; and ``alike``, the share of pairs with a cosine below
        that of the most similar twentieth of the exchanged ones.

    Raises:
        DataError, PspError: the encoder cannot be loaded.
    """
    model = load_encoder(encoder)
    part = batch.select(range(min(most, len(pairs))))
    texts = (part.source_tokens, part.target_tokens) if model.segmented else (part.source, part.target)
    source, target = (np.asarray(model.embed(column), np.float64) for column in texts)
    own, exchanged = cosines(source, target), cosines(source, np.roll(target, 1, axis=0))
    return {
        "encoder": encoder,
        "pairs": len(part),
        "own": [float(value) for value in np.quantile(own, QUANTILES)],
        "exchanged": [float(value) for value in np.quantile(exchanged, QUANTILES)],
        "alike": float((own <= np.quantile(exchanged, 0.95)).mean()),
    }


def filtered(
    pairs: Sequence[Sampled],
    batch: Batch,
    settings: Mapping[str, Any],
    languages: tuple[str, str],
    resources: Mapping[str, Any],
    *,
    corpus: str,
    text: bool,
) -> tuple[list[dict[str, Any]], float]:
    """What each filter alone would drop from a sample: filters that are on, and filters that are off.

    Args:
        pairs, batch: the sample.
        settings: the corpus's block ``filters``.
        languages: codes of source and target.
        resources: as filters take them.
        corpus: its name, for errors.
        text: whether it holds sentences rather than pairs.

    Returns:
        For each filter ``name``, ``on``, ``taken`` (a share; None if it cannot run, then ``why``), ``reasons`` (shares)
        and ``samples``; and the share of the sample that all filters that are on would keep.

    Raises:
        ConfigError, DataError: a filter that is on cannot be made, or fails on a pair.
    """
    filters: list[dict[str, Any]] = []
    kept = np.array([bool(one and other) for one, other in zip(batch.source, batch.target, strict=True)], np.bool_)
    for name in names():
        if name not in settings:
            continue
        block = settings[name]
        on = bool(block.get("enabled", True)) if isinstance(block, Mapping) else bool(block)
        entry = {"name": name, "on": on, "taken": None, "why": None, "reasons": [], "samples": []}
        if not on and (name in _NOT_OFF or (text and Filter.classes[name].compares)):
            continue
        encoder = block["encoder"] if isinstance(block, Mapping) and name == "similarity" else None
        if encoder is not None and encoder.startswith("results/"):
            filters.append({**entry, "why": f"its encoder, {encoder}, may not be trained yet"})
            continue
        try:
            judge = build({name: block if on or not isinstance(block, Mapping) else {**block, "enabled": True}},
                          languages, resources)  # fmt: skip
            reasons = judge[0](batch)
        except RowError as error:
            raise DataError(error.message, corpus, pairs[error.row].row) from error
        except ConfigError as error:
            if on:
                raise
            filters.append({**entry, "why": str(error)})
            continue
        taken = [index for index, reason in enumerate(reasons) if reason is not None]
        counts = Counter(reason for reason in reasons if reason is not None)
        entry["taken"] = len(taken) / max(len(pairs), 1)
        entry["reasons"] = _shares(counts, len(pairs)) if pairs else []
        entry["samples"] = [{"reason": reasons[index], **shown(pairs[index])} for index in taken[:SHOWN]]
        filters.append(entry)
        if on:
            kept[taken] = False
    return filters, float(kept.mean()) if len(pairs) else 0.0


def shown(pair: Sampled) -> dict[str, Any]:
    """A pair as reports show it: its line, and the beginnings of its sides."""
    return {"row": pair.row, "source": _beginning(pair.source), "target": _beginning(pair.target)}


def beside(pair: Sampled) -> dict[str, Any]:
    """The same, with the targets of the pairs before and after it."""
    return {**shown(pair), "before": _beginning(pair.before), "after": _beginning(pair.after)}


def _beginning(text: str, most: int = 300) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"
