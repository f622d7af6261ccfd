"""The block ``teacher`` of a model's entry: a model's teacher, and whether that teacher knows its languages."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from psp.config.blocks.teacher import TeacherSettings
from psp.config.corpus_entries import CorpusSpec
from psp.config.written import Written
from psp.core.errors import ConfigError


def resolve_teacher(
    config: Written, model: str, settings: Mapping[str, Any], parts: Sequence[CorpusSpec], *, of_recipe: bool = False
) -> dict[str, Any]:
    """Check a model's teacher, and fill in the languages that it knows.

    Args:
        model: the model's name.
        settings: its blocks.
        parts: its corpora.
        of_recipe: the teacher is the recipe's, and a model that it cannot teach has none.

    Returns:
        The block ``teacher``; without a teacher as it was.

    Raises:
        ConfigError: there is text but no teacher; a teacher does not know the language of the text, or its languages
            are unknown; or settings contradict one another.
    """
    where, block = f"models.{model}", settings["teacher"]
    text = [part for part in parts if part.is_text]
    if block["encoder"] is None:
        if text:
            raise ConfigError(
                f"{where}.corpora: {text[0].corpus} is text without pairs, which needs a teacher; write e.g. "
                "`teacher: {encoder: use-multilingual, weight: 1}`"
            )
        return dict(block)
    place, encoder = f"{where}.teacher", block["encoder"]
    TeacherSettings.of(block)
    if (of := re.fullmatch(r"results/([^/]+)/model/?", encoder)) and of[1] == model:
        raise ConfigError(f"{place}.encoder: {encoder} is the model to be taught, a cycle; name another")
    from psp.models.registry import known_languages

    known = block["languages"] or known_languages(encoder)
    if not known and of and of[1] in config.models:
        known = config.entry(of[1]).get("languages")
    if known is None:
        raise ConfigError(
            f"{place}: psp does not know the languages of {encoder}; write e.g. `languages: [{parts[0].languages[0]}]`"
        )
    taught = any(language in known for part in parts for language in part.languages)
    if of_recipe and not taught:
        return {**block, "encoder": None}
    if stranger := next((part for part in text if part.languages[0] not in known), None):
        raise ConfigError(
            f"{place}: {encoder} knows {' '.join(known)}, and {stranger.corpus} is text in {stranger.languages[0]}; "
            "name a teacher of that language, or, if it does know it, list that in `teacher.languages`"
        )
    if not taught:
        raise ConfigError(
            f"{place}: {encoder} knows {' '.join(known)}, none of the model's languages; name a teacher that knows one"
        )
    if block["weight"] < 1 and len(text) == len(parts):
        raise ConfigError(
            f"{place}.weight: {block['weight']:g}, but the model has no pairs for the rest of the loss; write `weight: "
            "1`"
        )
    return {**block, "languages": list(known)}
