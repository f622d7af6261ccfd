"""The blocks ``deciles`` and ``by_corpus``: what a study of a model's pairs trains, and whether it is possible."""

from __future__ import annotations

from psp.config.corpus_entries import CorpusSpec, check_ranking
from psp.config.model import ModelEntry
from psp.core.errors import ConfigError, closest

#: A study's block, by the name of its files.
STUDIES = {"tenths": "deciles", "by_corpus": "by_corpus"}


def studied(model: ModelEntry, study: str) -> tuple[CorpusSpec, ...]:
    """The corpora of a model that a study uses.

    Raises:
        ConfigError: they cannot be ranked as requested, or are not all pairs of the same languages; a name is not a
            corpus of the model; or there is nothing to score by.
    """
    where, name = f"models.{model.name}", STUDIES[study]
    block = model[name]
    if not model["development"]["sts"]:
        raise ConfigError(
            f"{where}.development: sts is null, but {name} scores by STS pairs, since held-out pairs favour the "
            "largest kinds of text; name a file of STS pairs, e.g. `development: {sts: judged.tsv}`"
        )
    parts = model.parts
    if name == "by_corpus" and block["corpora"] is not None:
        known = {part.corpus for part in parts}
        for corpus in block["corpora"]:
            if corpus not in known:
                raise ConfigError(
                    f"{where}.by_corpus.corpora: {corpus} is not a corpus of the model{closest(corpus, known)}; there "
                    f"are {', '.join(part.corpus for part in parts)}"
                )
        parts = tuple(part for part in parts if part.corpus in block["corpora"])
    if texts := [part.label for part in parts if part.is_text]:
        raise ConfigError(f"{where}.{name}: compares pairs, but {texts[0]} is text; leave it out of the model")
    if name == "deciles":
        languages = {part.languages for part in parts}
        if len(languages) > 1:
            raise ConfigError(
                f"{where}.deciles: the model's corpora are in {' and '.join(sorted(map('-'.join, languages)))}, and "
                "deciles would mix them; ask for the deciles of a model in one pair of languages"
            )
        for by in block["by"]:
            check_ranking(parts, f"{where}.corpora", {part.label: by for part in parts}, "deciles.by")
    return parts
