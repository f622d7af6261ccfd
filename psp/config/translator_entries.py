"""The entries of ``translators``: translators to train, each with its corpora, and existing ones.

Up to the mixed pairs, training has the stages of a model, so an entry's corpora are resolved like those of a model
without an encoder whose folder is ``results/translators/<name>``.
"""

from __future__ import annotations

import dataclasses
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psp.config.blocks.corpora import of_item
from psp.config.blocks.entries import Top
from psp.config.blocks.fields import NAME
from psp.config.blocks.overlay import merge
from psp.config.blocks.translator import (
    BEFORE,
    CTRANSLATE2,
    FILES,
    KINDS,
    REST,
    CommandBlock,
    Ctranslate2Block,
    TranslatorSettings,
    kind_of,
)
from psp.config.corpus_entries import CorpusSpec, check_distinct, resolve
from psp.config.licences import union
from psp.config.made_entries import made_as
from psp.config.model import ModelEntry, ModelKind
from psp.core.errors import ConfigError, closest
from psp.text.languages import check_codes

#: The folder of translators under results/.
FOLDER = "translators"
#: Keys of entries of translators that are trained.
_TRAINED = ("corpora", "from", "filters", "seed", "train")
#: Keys of entries of existing translators.
_READY = ("sentencepiece", "target_sentencepiece", "scores", "licence")
#: Keys with the paths of an existing translator: the folder that names its kind, and files beside it.
_FILES = ("ctranslate2", "sentencepiece", "target_sentencepiece")


class TrainedTranslator(ModelKind):
    """A translator's corpora and training, which go through the stages of a model in ``translators/<name>``."""

    called = "a translator"
    block = "translator"
    joins = False
    stores = False
    there_is = re.compile(
        r"(model|pairs|train|logs|benchmarks)/|(translator|sentencepiece)\.json$|sentencepiece\.model$"
    )

    def files(self, model: ModelEntry) -> list[str]:
        return [f"{model.name}/model/{file}" for file in FILES]

    def refusal(self, model: ModelEntry) -> str:
        return "a translator has model/, translator.json, train/ and pairs/ only"


@dataclass(frozen=True)
class TranslatorEntry:
    """One translator of a config.

    Attributes:
        name: its name.
        languages: source and target.
        licence: the licence of its output, an SPDX expression: all its corpora's, or the entry's; None if undeclared.
        settings: how it is loaded (:func:`psp.inference.translation.load.load_translator`).
        files: those that it is loaded from.
        data: if it is trained, its corpora and the blocks of the stages that prepare them, as a model; named
            ``translators/<name>``.
        train: if it is trained, all keys of its block ``train``.
    """

    name: str
    languages: tuple[str, str]
    licence: str | None
    settings: Mapping[str, Any]
    files: tuple[str, ...] = ()
    data: ModelEntry | None = None
    train: Mapping[str, Any] = field(default_factory=dict)


def is_trained(entry: Mapping[str, Any]) -> bool:
    """Whether it is to be trained."""
    return not any(kind in entry for kind in KINDS)


def _resolve_ready(name: str, entry: Mapping[str, Any], languages: tuple[str, str], where: str) -> TranslatorEntry:
    """Resolve the entry of an existing translator."""
    if strange := next((key for key in _TRAINED if key in entry), None):
        raise ConfigError(f"{where}.{strange}: is for translators to train, but this one exists already; leave it out")
    kind = kind_of(entry, where)
    own = {key: value for key, value in entry.items() if key not in ("languages", "licence", "search")}
    own |= {key: os.path.expandvars(own[key]) for key in _FILES if own.get(key)}
    files = [f"{own[kind]}/model.bin", *(own[key] for key in _FILES[1:] if own.get(key))] if kind == _FILES[0] else []
    block = Ctranslate2Block if kind == _FILES[0] else CommandBlock
    settings = block.at(where, {**own, **entry.get("search", {})}).as_dict()
    return TranslatorEntry(name, languages, entry.get("licence"), settings, tuple(str(Path(file)) for file in files))


def resolve_translator(config: Any, name: str, entry: Mapping[str, Any]) -> TranslatorEntry:
    """Resolve and check an entry.

    Args:
        config: a :class:`psp.config.config.Config`.
        name, entry: its key and the mapping, as the schema allows it.

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
    check_codes(languages, f"{where}.languages")
    if not is_trained(entry):
        return _resolve_ready(name, entry, languages, where)
    if strange := next((key for key in entry if key in _READY), None):
        raise ConfigError(f"{where}.{strange}: is for existing translators; leave it out")
    if ("corpora" in entry) == ("from" in entry):
        raise ConfigError(
            f"{where}: needs either `corpora`, its bitext, or `from: {{model: name}}`, the bitext of a model, or an "
            "existing translator, `ctranslate2: <folder>` or `command: <line>`; write one"
        )
    if "from" in entry:
        other = entry["from"]["model"]
        if other not in config.models:
            raise ConfigError(f"{where}.from: {other} is not a model of the config{closest(other, config.models)}")
        data = config.model(other)
        settings = dict(data.settings)
        settings["filters"] = merge(settings["filters"], entry.get("filters", {}))
        parts = [
            _turned(part, languages, entry.get("filters", {}))
            for part in data.parts
            if set(part.languages) == {source, target} and not part.sources and not part.is_text
        ]
        if not parts:
            raise ConfigError(f"{where}.from: {other} has no corpus in {source} and {target}; name corpora that do")
        recipe = data.recipe
    else:
        recipe = config.raw.get("recipe", Top.default("recipe"))
        settings = config.blocks(entry, recipe, languages)
        parts = []
        for item in entry["corpora"]:
            own = item if isinstance(item, Mapping) else {}
            if made_as(own) or "model" in own or any(kind.is_text for kind in of_item(own)):
                raise ConfigError(
                    f"{where}.corpora: lists bitext, by names of the catalogue or as `{{path: ...}}`; for that of a "
                    "model write `from: {model: name}` instead"
                )
            parts.append(
                resolve(
                    item, languages=languages, catalogue=config.corpora, filters=settings["filters"], recipe=recipe,
                    where=f"{where}.corpora",
                )
            )  # fmt: skip
            # An item's own languages may be in the corpus's order.
            parts[-1] = _turned(parts[-1], languages, {})
            if set(parts[-1].languages) != {source, target}:
                raise ConfigError(
                    f"{where}.corpora: {parts[-1].corpus} is in {' and '.join(parts[-1].languages)}, not in {source} "
                    f"and {target}; leave it out"
                )
        check_distinct(parts, f"{where}.corpora")
    block = {**config.defaults("translator"), **entry.get("train", {})}
    try:
        TranslatorSettings.of({key: value for key, value in block.items() if key not in BEFORE})
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
            "arabic": "as written",  # otherwise it would write folded letters
        },
    }
    prepared = ModelEntry(
        TrainedTranslator(),
        f"{FOLDER}/{name}",
        languages,
        tuple(parts),
        recipe,
        entry.get("seed", config.raw.get("seed", Top.default("seed"))),
        settings,
        {},
        {},
        {},
    )
    folder = f"results/{FOLDER}/{name}/model"
    settings = Ctranslate2Block.at(
        f"{where}.search",
        {"ctranslate2": f"{folder}/{CTRANSLATE2}", "max_tokens": block["max_tokens"], **entry.get("search", {})},
    ).as_dict()
    files = tuple(f"{folder}/{file}" for file in FILES)
    return TranslatorEntry(name, languages, union(part.licence for part in parts), settings, files, prepared, block)


def _turned(part: CorpusSpec, languages: tuple[str, str], filters: Mapping[str, Any]) -> CorpusSpec:
    """A corpus with its languages in this order, and filters that override its own."""
    turned = part.languages == languages[::-1]
    return dataclasses.replace(
        part,
        languages=part.languages[::-1] if turned else part.languages,
        names=part.names[::-1] if turned else part.names,
        filters=merge(part.filters, filters),
    )
