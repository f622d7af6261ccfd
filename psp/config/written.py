"""A config as written: its entries with what they extend, and the corpora that they name."""

from __future__ import annotations

import functools
import os
import re
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

from psp.config import mined_entries, translated_entries  # noqa: F401  (for their registration)
from psp.config.blocks.entries import BLOCK, DEFAULT_ENCODER, Blocks
from psp.config.blocks.fields import RECIPES
from psp.config.blocks.overlay import merge
from psp.config.blocks.vocabulary import SegmentBlock
from psp.config.corpus_entries import CorpusSpec, resolve
from psp.config.made_entries import Asking, made_as
from psp.config.model import ModelEntry, unspelled
from psp.config.translator_entries import TranslatorEntry
from psp.core.errors import ConfigError, closest
from psp.text.languages import ISO3

#: The model of a newcomer's first commands, which has its own config.
DEMO = ", but of config/demo.yaml: add `--configfile config/demo.yaml`"


class Written(ABC):
    """The part of a config that kinds of models query.

    Attributes:
        raw: the merged config files.
        corpora: the catalogue.
        vectors: the entries of ``vectors``.
    """

    raw: dict[str, Any]
    corpora: dict[str, dict[str, Any]]
    vectors: dict[str, dict[str, Any]]

    @abstractmethod
    def model(self, name: str) -> ModelEntry:
        """Resolve one model."""

    @abstractmethod
    def translator(self, name: str) -> TranslatorEntry:
        """Resolve one translator."""

    @property
    def models(self) -> tuple[str, ...]:
        """The names of all models."""
        return tuple(self.raw["models"])

    def entry(self, name: str) -> dict[str, Any]:
        """A model's entry, with what it extends.

        Raises:
            ConfigError: no such model.
        """
        return self._entry(name, ())

    def _entry(self, name: str, below: tuple[str, ...]) -> dict[str, Any]:
        if name not in self.raw["models"]:
            what = f"models.{below[-1]}.extends: {name}" if below else name
            language = name in ISO3 and name != "en"
            corpus = next(iter(self.corpora), "Europarl")
            raise ConfigError(
                f"{what} is not a model of the config"
                f"{DEMO if name == 'demo' else closest(name, self.models)}; "
                f"there are {', '.join(self.models)}; add it under `models:`, "
                f"e.g. `{name}: {{languages: [en, {name if language else 'fr'}], corpora: [{corpus}]}}`"
                + (f"; `psp languages suggest {name}` lists the corpora that OPUS has" if language else "")
            )
        entry = self.raw["models"][name]
        if "extends" not in entry:
            return dict(entry)
        if entry["extends"] in (*below, name):
            raise ConfigError(f"models.{name}.extends: {entry['extends']} extends {name} in turn; break the cycle")
        return merge(self._entry(entry["extends"], (*below, name)), {k: v for k, v in entry.items() if k != "extends"})

    def defaults(
        self,
        block: str,
        recipe: str = RECIPES[0],
        own: Mapping[str, Any] | None = None,
        encoder: str = DEFAULT_ENCODER,
    ) -> dict[str, Any]:
        """A block with its defaults, as if the config did not mention it.

        Args:
            own: the block as written; of `segment`, a table by language, only its languages are filled in.
            encoder: a model's.
        """
        if block == "segment":
            values = SegmentBlock.table(Blocks.default("segment"), recipe, own or {})
        else:
            values = BLOCK[block].defaults(recipe)
        if block == "train" and unspelled(encoder):
            values |= {"init_spelling": 0, "init_encoder": None}
        return values

    def parts(
        self, name: str, entry: Mapping[str, Any], settings: Mapping[str, Any], filters: Mapping[str, Any], recipe: str
    ) -> tuple[CorpusSpec, ...]:
        """Resolve a model's corpora; ``filters`` are those that the config itself has for the model.

        Raises:
            ConfigError: one is unknown, does not fit the model, or comes from the model in turn.
        """
        where, languages = f"models.{name}.corpora", tuple(entry["languages"])

        def parts_of(other: str) -> tuple[CorpusSpec, ...]:
            if other not in self.raw["models"]:
                raise ConfigError(f"{where}: {other} is not a model of the config{closest(other, self.models)}")
            if name in self._made_from(other):
                raise ConfigError(f"{where}: {other} is made from {name} in turn; break the cycle")
            return self.model(other).parts

        def translator(key: str) -> TranslatorEntry:
            for other in self._origins({"translator": key}):
                if other == name or name in self._made_from(other):
                    raise ConfigError(f"{where}: translator {key} is trained on {name} in turn; break the cycle")
            return self.translator(key)

        asking = Asking(
            name, languages, recipe, settings, filters, self.corpora, parts_of, translator,
            functools.partial(self._circular, name), where,
        )  # fmt: skip
        resolved = []
        for item in self._items(name, entry, ()):
            if made := made_as(item):
                assert isinstance(item, Mapping)
                resolved.append(made.resolve(item, asking))
                continue
            resolved.append(
                resolve(
                    item, languages=languages, catalogue=self.corpora, filters=settings["filters"], recipe=recipe,
                    where=where, rank=settings["rank"],
                )
            )  # fmt: skip
        return tuple(resolved)

    def _items(self, name: str, entry: Mapping[str, Any], below: tuple[str, ...]) -> Iterator[str | dict[str, Any]]:
        """Yield the items of an entry's corpora; an item that names a model stands for all of its corpora."""
        where = f"models.{name}.corpora"
        for item in entry["corpora"]:
            if isinstance(item, str) or "model" not in item:
                yield item
                continue
            other, rest = item["model"], {key: value for key, value in item.items() if key != "model"}
            if wrong := [key for key in rest if key not in ("cap", "filters", "rank")]:
                raise ConfigError(f"{where}: {{model: {other}}} takes its {wrong[0]} from that model; leave it out")
            if other not in self.raw["models"]:
                raise ConfigError(f"{where}: {other} is not a model of the config{closest(other, self.models)}")
            if other in (*below, name):
                raise ConfigError(f"{where}: {other} takes its corpora from {name} in turn; break the cycle")
            theirs = self._entry(other, ())
            if missing := [key for key in ("languages", "corpora") if key not in theirs]:
                raise ConfigError(f"{where}: models.{other} names no {missing[0]}, so there is nothing to use")
            languages = theirs["languages"]
            pair = {"languages": [languages[0], languages[0]] if len(languages) == 1 else languages}
            for part in self._items(other, theirs, (*below, name)):
                own: dict[str, Any] = {"name": part} if isinstance(part, str) else part
                yield merge(own if made_as(own) else {**pair, **own}, rest)  # made corpora name their languages

    def _circular(self, name: str, encoder: str) -> bool:
        """Whether an encoder is this model, or another model of the config that is trained on this one's pairs."""
        match = re.fullmatch(r"results/([^/]+)/model/?", encoder)
        return match is not None and (match[1] == name or name in self._made_from(match[1]))

    def _made_from(self, name: str, below: tuple[str, ...] = ()) -> set[str]:
        """The models from which a model's corpora come, directly or not."""
        models: set[str] = set()
        if name in below or name not in self.raw["models"]:
            return models
        for item in self._entry(name, ()).get("corpora", []):
            for other in self._origins(item):
                models |= {other} | self._made_from(other, (*below, name))
        return models

    def _origins(self, item: str | Mapping[str, Any]) -> Iterator[str]:
        """The models that an item of corpora names, and the one that its translator is trained on."""
        if isinstance(item, str):
            return
        translator = self.raw.get("translators", {}).get(item.get("translator"), {})
        for origin in (item, item.get("from"), translator.get("from")):
            if isinstance(origin, Mapping) and "model" in origin:
                yield origin["model"]


def expanded(path: str | None) -> str | None:
    """A path with each ``${VARIABLE}`` replaced; ``~/`` is replaced when the config is read."""
    return path and os.path.expandvars(path)
