"""The entries of ``translators``: translators that the config trains, each with its corpora.

The stages up to the mixed pairs are those of a model, so that an entry's corpora are resolved as a model's: one that
has no encoder, and whose folder is ``results/translators/<name>``.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psp.config.corpus_entries import Part, closest, resolve
from psp.config.mined_entries import is_mined, union
from psp.config.model import Model
from psp.config.overlay import merge
from psp.core.errors import ConfigError
from psp.core.settings import NAME
from psp.pairs.translator_heldout import REST
from psp.training.translator.settings import BEFORE, TranslatorSettings

#: The folder of translators under results/.
FOLDER = "translators"


@dataclass(frozen=True)
class Translator:
    """One translator of a config.

    Attributes:
        name: its name.
        languages: source and target.
        data: its corpora and the blocks of the stages that prepare them, as a model; named ``translators/<name>``.
        train: all keys of its block ``train``.
        licence: of all its corpora, an SPDX expression; None if one declares none.
    """

    name: str
    languages: tuple[str, str]
    data: Model
    train: Mapping[str, Any]
    licence: str | None


def resolve_translator(
    name: str,
    entry: Mapping[str, Any],
    *,
    models: Sequence[str],
    model: Callable[[str], Model],
    blocks: Callable[[Mapping[str, Any], str, Sequence[str]], dict[str, Any]],
    catalogue: Mapping[str, Mapping[str, Any]],
    train: Mapping[str, Any],
    recipe: str,
    seed: int,
) -> Translator:
    """Resolve and check an entry.

    Args:
        name: its key.
        entry: the mapping, as the schema allows it.
        models: the names of the config's models.
        model: resolves one of them.
        blocks: resolves the blocks of a model by its entry, recipe and languages.
        catalogue: the config's ``corpora``.
        train: the defaults of the block ``train``.
        recipe, seed: those of the config.

    Raises:
        ConfigError: the name cannot be a folder, the entry is incomplete, a corpus is not in its languages, or settings
            contradict one another.
    """
    where = f"{FOLDER}.{name}"
    if not re.fullmatch(NAME, name):
        raise ConfigError(f"{where}: not a usable name (it becomes a folder); use letters, digits, '.', '_' or '-'")
    if "languages" not in entry:
        raise ConfigError(f"{where}: names no languages; write source and target, e.g. `languages: [fr, en]`")
    source, target = languages = (entry["languages"][0], entry["languages"][1])
    if ("corpora" in entry) == ("from" in entry):
        raise ConfigError(
            f"{where}: needs either `corpora`, its bitext, or `from: {{model: name}}`, the bitext of a model; write one"
        )
    if "from" in entry:
        other = entry["from"]["model"]
        if other not in models:
            raise ConfigError(f"{where}.from: {other} is not a model of the config{closest(other, models)}")
        data = model(other)
        settings = dict(data.settings)
        settings["filters"] = merge(settings["filters"], entry.get("filters", {}))
        parts = [
            _turned(part, languages, entry.get("filters", {}))
            for part in data.parts
            if set(part.languages) == {source, target} and not part.sources and not part.is_text
        ]
        if not parts:
            raise ConfigError(f"{where}.from: {other} has no corpus in {source} and {target}; name corpora that are")
        recipe = data.recipe
    else:
        settings = blocks(entry, recipe, languages)
        parts = []
        for item in entry["corpora"]:
            if is_mined(item) or (isinstance(item, Mapping) and ("model" in item or "text" in item)):
                raise ConfigError(
                    f"{where}.corpora: lists bitext, by names of the catalogue or as `{{path: ...}}`; for that of a "
                    "model write `from: {model: name}` instead"
                )
            parts.append(
                resolve(
                    item, languages=languages, catalogue=catalogue, filters=settings["filters"], recipe=recipe,
                    where=f"{where}.corpora",
                )
            )  # fmt: skip
            # An item's own languages may stand in the corpus's order.
            parts[-1] = _turned(parts[-1], languages, {})
            if set(parts[-1].languages) != {source, target}:
                raise ConfigError(
                    f"{where}.corpora: {parts[-1].corpus} is in {' and '.join(parts[-1].languages)}, not in {source} "
                    f"and {target}; leave it out"
                )
        labels = [part.label for part in parts]
        if repeated := next((label for label in labels if labels.count(label) > 1), None):
            raise ConfigError(f"{where}.corpora: {repeated} is listed twice; leave one out")
    block = {**train, **entry.get("train", {})}
    try:
        TranslatorSettings.from_mapping({key: value for key, value in block.items() if key not in BEFORE})
    except ConfigError as error:
        raise ConfigError(f"{where}.{str(error).replace('translator.', 'train.', 1)}") from None
    names = {part.corpus for part in parts}
    if strange := next((one for one in block["heldout"] if one != REST and one not in names), None):
        raise ConfigError(
            f"{where}.train.heldout: {strange} is not one of its corpora{closest(strange, names)}; there are "
            f"{', '.join(sorted(names))}, and `{REST}` for all that are not named"
        )
    settings |= {
        "segment": {},
        "mix": merge(settings["mix"], {"near_duplicates": {"enabled": False}}),
        "development": {**settings["development"], "heldout": 0},
        "subword": {
            **settings["subword"],
            **{key: block[key] for key in ("vocab_size", "character_coverage", "threads")},
        },
    }
    prepared = Model(f"{FOLDER}/{name}", languages, tuple(parts), recipe, entry.get("seed", seed), settings, {}, {}, {})
    return Translator(name, languages, prepared, block, union(part.licence for part in parts))


def _turned(part: Part, languages: tuple[str, str], filters: Mapping[str, Any]) -> Part:
    """A corpus with its languages in this order, and filters on top of its own."""
    turned = part.languages == languages[::-1]
    return dataclasses.replace(
        part,
        languages=part.languages[::-1] if turned else part.languages,
        names=part.names[::-1] if turned else part.names,
        filters=merge(part.filters, filters),
    )
