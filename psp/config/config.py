"""The config: checked before anything runs, and resolved into each model's settings.

A setting's value comes from the following, where the last wins: its declared default; its value under the model's
recipe; the block at the top level of the config; the entry that the model extends; the model's own entry.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.config.blocks.entries import BLOCKS, Document, Top
from psp.config.blocks.errors import check
from psp.config.blocks.fields import NAME
from psp.config.blocks.overlay import merge
from psp.config.config_file import read_yaml
from psp.config.corpus_entries import CorpusSpec, check_entry
from psp.config.downloads import FOLDER, Downloads, at_home, read_pins
from psp.config.licences import permitted
from psp.config.model import EntryKind, ModelEntry
from psp.config.model_kinds import of_entry
from psp.config.trained_entries import chosen_on, with_paths
from psp.config.translator_entries import TranslatorEntry, is_trained, resolve_translator
from psp.core.errors import ConfigError, closest
from psp.evaluation import systems

if TYPE_CHECKING:  # tasks bring numpy, and are made only where one is asked for
    from psp.evaluation.tasks import Task

#: Folders of results/ that are not models.
RESERVED = frozenset({"downloads", "embeddings", "phrasebook", "translations", "translators"})


class Config(Downloads):
    """A checked config.

    Args:
        raw: the merged config files, as nested mappings.

    Raises:
        ConfigError: a key, corpus or model violates the schema; the message is one line.
    """

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw: dict[str, Any] = at_home(dict(raw))
        raw = self.raw
        for key in ("offline", "keep_intermediate"):
            # Snakemake's --config reads True and False, but leaves YAML's true and false as text.
            if raw.get(key) in ("true", "false"):
                self.raw[key] = raw[key] == "true"
        check(raw, Document)
        self.offline: bool = raw.get("offline", Top.default("offline"))
        self.keep_intermediate: bool = raw.get("keep_intermediate", Top.default("keep_intermediate"))
        self.corpora: dict[str, dict[str, Any]] = raw["corpora"]
        for name, entry in self.corpora.items():
            check_entry(name, entry)
        self.sources = merge(self.defaults("sources"), raw.get("sources", {}))
        self.phrasebook = merge(self.defaults("phrasebook"), raw.get("phrasebook", {}))
        self.licences: list[str] | None = merge(self.defaults("licences"), raw.get("licences", {}))["allow"]
        self.pins = read_pins(raw.get("pins"))
        self.vectors: dict[str, dict[str, Any]] = raw.get("vectors", {})
        for name in raw["models"]:
            if not re.fullmatch(NAME, name) or name in RESERVED:
                raise ConfigError(
                    f"models.{name}: not a usable name (it becomes a folder under results/); "
                    f"use up to 100 letters, digits, '.', '_' or '-', and none of {', '.join(sorted(RESERVED))}"
                )
            self.model(name)
        for name in self.translators:
            self.translator(name)
        self.reported: list[str] = merge(self.defaults("report"), raw.get("report", {}))["models"]
        """The models that results/report.html compares."""
        for name in self.reported:
            if name not in raw["models"]:
                raise ConfigError(f"report.models: {name} is not a model of the config{closest(name, self.models)}")

    @classmethod
    def load(cls, files: Iterable[Path | str], overrides: Mapping[str, Any] | None = None) -> Config:
        """Read config files, later ones on top of earlier ones, as Snakemake merges them."""
        raw: dict[str, Any] = {}
        for file in files:
            raw = merge(raw, read_yaml(file))
        return cls(merge(raw, overrides or {}))

    @functools.cache  # noqa: B019  (a config lives as long as its process)
    def model(self, name: str) -> ModelEntry:
        """Resolve one model.

        Raises:
            ConfigError: no such model, or its entry names an unknown corpus, language or model.
        """
        entry = self.entry(name)
        return of_entry(entry).resolve(self, name, entry)

    @property
    def translators(self) -> tuple[str, ...]:
        """The names of all translators."""
        return tuple(self.raw.get("translators", {}))

    @property
    def trained_translators(self) -> tuple[str, ...]:
        """The names of the translators to train."""
        return tuple(name for name, entry in self.raw.get("translators", {}).items() if is_trained(entry))

    @functools.cache  # noqa: B019
    def translator(self, name: str) -> TranslatorEntry:
        """Resolve one translator.

        Raises:
            ConfigError: no such translator, or its entry is wrong.
        """
        if name not in self.translators:
            raise ConfigError(
                f"{name} is not a translator of the config{closest(name, self.translators)}; there are "
                f"{', '.join(self.translators) or 'none'}; add it under `translators:`, e.g. "
                f"`{name}: {{languages: [fr, en], from: {{model: fr}}}}`"
            )
        return resolve_translator(self, name, self.raw["translators"][name])

    def blocks(self, entry: Mapping[str, Any], recipe: str, languages: Sequence[str]) -> dict[str, Any]:
        """All blocks of an entry that is not a model's."""
        settings: dict[str, Any] = {}
        for block in BLOCKS:
            own = merge(self.raw.get(block, {}), entry.get(block, {}) if block == "filters" else {})
            settings[block] = merge(self.defaults(block, recipe, own), own)
        settings = with_paths(settings)
        development = settings["development"]
        if "en" not in languages:  # the top level's value for models with English
            development = {**development, "sts": None}
        settings["development"] = chosen_on(development, tuple(languages), "translators")
        return settings

    def variant(self, name: str, variant: str) -> ModelEntry:
        """Resolve a model as one of its variants trains it: another recipe and block ``train``, the rest equal.

        Raises:
            ConfigError: as :meth:`cleared`, or the model has no such variant.
        """
        model = self.cleared(name)
        if variant not in model.variants:
            raise ConfigError(
                f"models.{name}.variants: {variant} is not one of them{closest(variant, model.variants)}; "
                f"there are {', '.join(model.variants)}"
            )
        wanted = model.variants[variant]
        if wanted.base:
            return model
        assert isinstance(model.of, EntryKind) and model.of.block is not None  # untrained models have no variants
        settings = {**model.settings, model.of.block: wanted.train}
        made = dataclasses.replace(model, recipe=wanted.recipe, settings=settings, tuned={})
        return dataclasses.replace(made, differences=model.of.differences(self, made))

    def tasks_of(self, name: str, folder: str = FOLDER) -> dict[str, Mapping[str, Any]]:
        """The settings of all tasks of a model by name, those of every model first; downloads lie in ``folder``.

        Raises:
            ConfigError: as :meth:`cleared`.
        """
        model = self.cleared(name)
        from psp.evaluation import tasks

        return {**tasks.by_default(self.test_sources(model, folder)), **model["evaluate"]["tasks"]}

    def task(self, name: str, task: str, folder: str = FOLDER) -> Task:
        """One of a model's tasks; downloads lie in ``folder``.

        Raises:
            ConfigError: as :meth:`cleared`, or the model has no such task.
        """
        known = self.tasks_of(name, folder)
        if task not in known:
            raise ConfigError(
                f"models.{name}.evaluate.tasks: {task} is not one of them{closest(task, known)}; "
                f"there are {', '.join(known) or 'none'}"
            )
        from psp.evaluation import tasks

        return tasks.make(known[task], f"models.{name}.evaluate.tasks.{task}")

    def of_lexicon(self, name: str) -> tuple[str, str]:
        """The languages of the two sides of the pairs that a model's lexicon is made from.

        Raises:
            ConfigError: as :meth:`cleared`, or the model has no such pairs.
        """
        model = self.cleared(name)
        there = list(dict.fromkeys(part.languages for part in model.parts if not part.is_text))
        if not there:
            raise ConfigError(f"models.{name}: has no pairs, so there is no lexicon of it; ask for another model's")
        wanted = model["lexicon"]["languages"]
        if wanted is None:
            return next((pair for pair in there if pair[0] == pair[1]), there[0])
        if tuple(wanted) not in there:
            raise ConfigError(
                f"models.{name}.lexicon.languages: the model has no pairs of {' and '.join(wanted)}; it has "
                + ", ".join(f"[{', '.join(pair)}]" for pair in there)
            )
        return wanted[0], wanted[1]

    def system(self, name: str, system: str) -> str:
        """The encoder of one of the systems that a model is compared with.

        Raises:
            ConfigError: as :meth:`cleared`, or the model is not compared with this system.
        """
        known = systems.named(self.cleared(name)["compare"]["systems"])
        if system not in known:
            raise ConfigError(
                f"models.{name}.compare.systems: {system} is not one of them{closest(system, known)}; "
                f"there are {', '.join(known) or 'none'}"
            )
        return known[system]

    def cleared_translator(self, name: str) -> TranslatorEntry:
        """Resolve a translator before training, and check its corpora's licences.

        Raises:
            ConfigError: as :meth:`translator`, or a corpus declares a licence outside ``licences.allow``, or none.
        """
        translator = self.translator(name)
        if translator.data is not None:
            self._check_licences(translator.data.parts, f"translators.{name}")
        return translator

    def cleared(self, name: str) -> ModelEntry:
        """Resolve a model before use; check its tasks, and that the licence of each corpus is allowed.

        The corpora and tasks of other models do not matter.

        Raises:
            ConfigError: as :meth:`model`; a task is wrong; a corpus declares a licence outside ``licences.allow``, or
                none.
        """
        model = self.model(name)
        for other, _ in model.combined:
            self.cleared(other)
        # Not when the config is read: a wrong task of one model must not affect the others.
        if model["evaluate"]["tasks"] or model["development"]["sets"]:
            _check_tasks(model)
        self._check_licences(model.parts, f"models.{name}")
        return model

    def _check_licences(self, parts: Iterable[CorpusSpec], where: str) -> None:
        for part in parts:
            if problem := self.forbidden(part.licence):
                own = f"`- {{{next(iter(part.of.item), 'path')}: {part.path}, licence: ...}}`"
                if part.sources:
                    bitext = ", ".join(f"{source.corpus}: {source.licence or 'none'}" for source in part.sources)
                    translated = ", and of its translator" if part.translation else ""
                    raise ConfigError(
                        f"{where}.corpora: {part.corpus} {problem}; its licence is that of its bitext ({bitext})"
                        f"{translated}: leave it out of the model, extend licences.allow, or declare what is missing"
                    )
                raise ConfigError(
                    f"{where}.corpora: {part.corpus} {problem}; leave it out of the model, extend "
                    "licences.allow, or declare the licence that you know it has: "
                    + (own if part.path else f"`corpora: {{{part.corpus}: {{licence: ...}}}}`")
                )

    def forbidden(self, licence: str | None) -> str | None:
        """Why a corpus with this declared licence may not be used, in a few words; None if it may."""
        if self.licences is None:
            return None
        allowed = f"licences.allow holds {', '.join(self.licences) or 'none'}"
        if licence is None:
            return f"declares no licence, and {allowed}"
        try:
            return None if permitted(licence, self.licences) else f"has the licence {licence}, and {allowed}"
        except ValueError as error:
            return f"has a licence that cannot be read ({error})"


def _check_tasks(model: ModelEntry) -> None:
    from psp.evaluation import judged, tasks

    of_every_model = {kind.kind for kind in tasks.of_every_model()}
    for task, chosen in model["evaluate"]["tasks"].items():
        place = f"models.{model.name}.evaluate.tasks.{task}"
        if task in of_every_model:
            raise ConfigError(f"{place}: every model has a task of this name; choose another")
        tasks.make(chosen, place)
    for chosen_by, entry in model["development"]["sets"].items():
        judged.tasks_of(entry, f"models.{model.name}.development.sets.{chosen_by}")
