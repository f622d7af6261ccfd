"""The config: checked before anything runs, and resolved into each model's settings.

A setting's value comes from the following, where the last wins: its declared default; its value under the model's
recipe; the block at the top level of the config; the entry that the model extends; the model's own entry.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.config import combination_entries, study_entries, transformer_entries
from psp.config.blocks import ENCODER
from psp.config.config_file import read_yaml
from psp.config.corpus_entries import Part, check_entry, check_ranking, resolve
from psp.config.downloads import Downloads, at_home, read_pins
from psp.config.entries import BLOCKS, DEFAULT_SEEDS, TOP, document
from psp.config.licences import permitted
from psp.config.mined_entries import is_mined, own_filters, resolve_mined
from psp.config.model import Model, tokens, unspelled
from psp.config.overlay import merge
from psp.config.schema import check, defaults, differences
from psp.config.teacher_entries import resolve_teacher
from psp.config.translated_entries import is_translated, resolve_translated
from psp.config.translator_entries import Translator, is_trained, resolve_translator
from psp.config.variant_entries import Variant
from psp.config.variant_entries import resolve as resolve_variants
from psp.core.errors import ConfigError, closest
from psp.core.settings import NAME, RECIPES
from psp.evaluation import systems, tasks
from psp.evaluation.testsets import SEMEVAL
from psp.models.files import TRANSFORMER
from psp.models.lstm import KINDS as LSTMS
from psp.pairs.filters import for_text
from psp.pairs.stats.settings import check as check_stats
from psp.text.tokenizer_kinds import of_kind
from psp.training import launch
from psp.training.transformer.settings import check_shared
from psp.training.tune import Tuning, tunable

#: Keys that do not change the model: settings that differ from a recipe only in them are the recipe.
INERT = (
    "train.log_every", "train.checkpoint.", "train.processes", "train.gpus", "quantize.", "speed.", "inspect.",
    "stats.", "lexicon.", "backtranslate.threads", "filters.warn_share", "mix.warn_pairs", "evaluate.tasks.",
    "compare.", "report.", "release.", "tenths.", "by_corpus.",
)  # fmt: skip
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
        self._schema = document()
        self.raw: dict[str, Any] = at_home(dict(raw))
        raw = self.raw
        for key, node in self._schema["properties"].items():
            # Snakemake's --config reads True and False, but leaves YAML's true and false as text.
            if node.get("type") == "boolean" and raw.get(key) in ("true", "false"):
                self.raw[key] = raw[key] == "true"
        check(raw, self._schema)
        self.offline: bool = raw.get("offline", TOP["offline"].default)
        self.keep_intermediate: bool = raw.get("keep_intermediate", TOP["keep_intermediate"].default)
        self.remake: list[str] = raw["remake"].split(",") if raw.get("remake") else []
        """Models that may be made anew though other config files made them."""
        for name in self.remake:
            if name not in raw["models"]:
                raise ConfigError(f"remake: no model {name}{closest(name, raw['models'])}")
        self.corpora: dict[str, dict[str, Any]] = raw["corpora"]
        for name, entry in self.corpora.items():
            check_entry(name, entry)
        self.sources = merge(self._defaults("sources"), raw.get("sources", {}))
        self.phrasebook = merge(self._defaults("phrasebook"), raw.get("phrasebook", {}))
        self.limits = merge(self._defaults("limits"), raw.get("limits", {}))
        """What :mod:`psp.core.limits` are in force."""
        self.licences: list[str] | None = merge(self._defaults("licences"), raw.get("licences", {}))["allow"]
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
        self.reported: list[str] = merge(self._defaults("report"), raw.get("report", {}))["models"]
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

    @property
    def models(self) -> tuple[str, ...]:
        """The names of all models."""
        return tuple(self.raw["models"])

    @functools.cache  # noqa: B019  (a config lives as long as its process)
    def model(self, name: str) -> Model:
        """Resolve one model.

        Raises:
            ConfigError: no such model, or its entry names an unknown corpus, language or model.
        """
        entry = self._entry(name, ())
        where = f"models.{name}"
        base = None
        if contextual := transformer_entries.is_transformer(entry):
            transformer_entries.check(self.raw["models"][name], entry.get("variants", {}), where)
            base = transformer_entries.base_of(entry["encoder"], where)
        elif isinstance(entry.get("encoder"), Mapping):
            return combination_entries.resolve(name, entry, models=self.raw["models"], model=self.model, path=_path)
        if "models" in self.raw["models"][name].get("report", {}):
            raise ConfigError(f"{where}.report.models: compares models, so it stands at the top level of a config")
        if "languages" not in entry:
            raise ConfigError(f"{where}: names no languages; write e.g. `languages: [en, fr]`")
        if "corpora" not in entry:
            example = next(iter(self.corpora), "Europarl")
            raise ConfigError(f"{where}: names no corpora; write e.g. `corpora: [{example}]`")
        languages = tuple(entry["languages"])
        recipe = entry.get("recipe", self.raw.get("recipe", TOP["recipe"].default))
        encoder = TRANSFORMER if contextual else entry.get("encoder", ENCODER.default)
        settings: dict[str, Any] = {}
        written = {block: merge(self.raw.get(block, {}), entry.get(block, {})) for block in BLOCKS}
        for block, own in written.items():
            # `segment` is a table by language: only an entry's own languages are filled in.
            settings[block] = merge(self._defaults(block, recipe, own, encoder), own)
            if block == "tune" and "grid" in own:
                settings[block]["grid"] = own["grid"]  # a grid in the config replaces the whole default
        if contextual:
            settings = transformer_entries.resolve(settings, entry["encoder"], recipe)
            own = self.raw["models"][name].get("compare", {})
            settings["compare"] = systems.without_untrained(settings["compare"], own, where)
        files = settings["evaluate"]["files"]
        settings["evaluate"] = {**settings["evaluate"], "files": {name: _path(file) for name, file in files.items()}}
        settings["train"] = {**settings["train"], "init_from": _path(settings["train"]["init_from"])}
        settings["inspect"] = {**settings["inspect"], "encoder": _path(settings["inspect"]["encoder"])}
        settings["stats"] = {
            **settings["stats"],
            "labels": [_path(file) for file in settings["stats"]["labels"]],
            "idf_from": {language: _path(file) for language, file in settings["stats"]["idf_from"].items()},
        }
        check_stats(settings["stats"], languages, f"{where}.stats")
        settings["development"] = _chosen_on(settings["development"], languages, where)
        tuned: dict[str, Any] = {}
        if settings["train"]["tune"] and not contextual:
            recipes = self._defaults("train", recipe, encoder=encoder)
            tuned = {key: recipes[key] for key in settings["tune"]["grid"]}
        parts = tuple(
            self._part(item, name, languages, settings, written["filters"], recipe)
            for item in self._items(name, entry, ())
        )
        check_ranking(parts, f"{where}.corpora", {part.label: part.rank["by"] for part in parts}, "rank.by")
        labels = [part.label for part in parts]
        if repeated := next((label for label in labels if labels.count(label) > 1), None):
            raise ConfigError(f"{where}.corpora: {repeated} is listed twice; leave one out")
        settings["teacher"] = resolve_teacher(
            {**settings["teacher"], "encoder": _path(settings["teacher"]["encoder"])},
            model=name,
            parts=parts,
            train=settings["train"],
            languages_of=lambda other: self._entry(other, ()).get("languages") if other in self.raw["models"] else None,
            where=where,
        )
        if all(part.is_text for part in parts):
            settings["development"] = {**settings["development"], "heldout": 0}  # a sentence has no other side to find
        seed = entry.get("seed", self.raw.get("seed", TOP["seed"].default))
        launch.check(settings["train"], where=f"{where}.train")
        if contextual:
            block = settings["transformer"]
            launch.check(block, where=f"{where}.transformer")
            taught = settings["teacher"]["encoder"] is not None
            check_shared(block["batch_size"], launch.count(block), taught, f"{where}.transformer")
        systems.check(settings["compare"], settings["evaluate"]["tasks"], where)
        if not contextual and (settings["train"]["tune"] or "grid" in written["tune"]):
            _check_grid(name, settings, parts)  # the recipe's grid need not fit a model without a search
        variants = resolve_variants(
            transformer_entries.flat(entry.get("variants", {})) if contextual else entry.get("variants", {}),
            recipe=recipe,
            seeds=entry.get("seeds", DEFAULT_SEEDS),
            train=settings["transformer" if contextual else "train"],
            defaults=self._transformer if contextual else functools.partial(self._defaults, "train", encoder=encoder),
            # A recipe also decides which weights are kept.
            of_recipe=[*transformer_entries.TUNABLE] if contextual else [*tunable(), "select"],
            where=where,
        )
        if contextual:
            transformer_entries.check_variants(variants, where)
        else:
            transformer_entries.refuse(entry.get("variants", {}), where)
            self._check_vectors(settings, tokens(encoder, settings), where)
        if why := unspelled(encoder):
            _check_unspelled(settings, variants, encoder, why, where)
        differences = self._differences(recipe, encoder, languages, settings, parts, tuned)
        model = Model(name, languages, parts, recipe, seed, settings, differences, tuned, variants, encoder, base=base)
        if settings["train"]["tune"] and not contextual:
            self._check_tunable(model)
        return model

    @property
    def translators(self) -> tuple[str, ...]:
        """The names of all translators."""
        return tuple(self.raw.get("translators", {}))

    @property
    def trained_translators(self) -> tuple[str, ...]:
        """The names of the translators that the config trains."""
        return tuple(name for name, entry in self.raw.get("translators", {}).items() if is_trained(entry))

    @functools.cache  # noqa: B019
    def translator(self, name: str) -> Translator:
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
        return resolve_translator(
            name,
            self.raw["translators"][name],
            models=self.models,
            model=self.model,
            blocks=self._blocks,
            catalogue=self.corpora,
            train=self._defaults("translator"),
            recipe=self.raw.get("recipe", TOP["recipe"].default),
            seed=self.raw.get("seed", TOP["seed"].default),
        )

    def _blocks(self, entry: Mapping[str, Any], recipe: str, languages: Sequence[str]) -> dict[str, Any]:
        """All blocks of an entry that is no model's."""
        settings: dict[str, Any] = {}
        for block in BLOCKS:
            own = merge(self.raw.get(block, {}), entry.get(block, {}) if block == "filters" else {})
            settings[block] = merge(self._defaults(block, recipe, own), own)
        files = settings["evaluate"]["files"]
        settings["evaluate"] = {**settings["evaluate"], "files": {name: _path(file) for name, file in files.items()}}
        development = settings["development"]
        if "en" not in languages:  # what the top level says for models with English
            development = {**development, "sts": None}
        settings["development"] = _chosen_on(development, tuple(languages), "translators")
        return settings

    def _part(
        self,
        item: str | Mapping[str, Any],
        name: str,
        languages: tuple[str, ...],
        settings: Mapping[str, Any],
        filters: Mapping[str, Any],
        recipe: str,
    ) -> Part:
        """Resolve an item of a model's corpora; ``filters`` are those that the config itself has for the model."""
        where = f"models.{name}.corpora"
        if not _is_made(item):
            return resolve(
                item,
                languages=languages,
                catalogue=self.corpora,
                filters=settings["filters"],
                recipe=recipe,
                where=where,
                rank=settings["rank"],
            )

        def parts_of(other: str) -> tuple[Part, ...]:
            if other not in self.raw["models"]:
                raise ConfigError(f"{where}: {other} is not a model of the config{closest(other, self.models)}")
            if name in self._made_from(other):
                raise ConfigError(f"{where}: {other} is made from {name} in turn; break the cycle")
            return self.model(other).parts

        def translator(key: str) -> Translator:
            for other in self._origins({"translator": key}):
                if other == name or name in self._made_from(other):
                    raise ConfigError(f"{where}: translator {key} is trained on {name} in turn; break the cycle")
            return self.translator(key)

        assert isinstance(item, Mapping)
        if is_translated(item):
            return resolve_translated(
                item,
                model=name,
                languages=languages,
                settings=settings,
                catalogue=self.corpora,
                recipe=recipe,
                parts_of=parts_of,
                translator=translator,
                circular=functools.partial(self._circular, name),
                where=where,
            )
        return resolve_mined(
            item,
            model=name,
            languages=languages,
            settings=settings,
            written=filters,
            catalogue=self.corpora,
            recipe=recipe,
            parts_of=parts_of,
            circular=functools.partial(self._circular, name),
            where=where,
        )

    def _circular(self, name: str, encoder: str) -> bool:
        """Whether an encoder is this model, or another model of the config that is trained on this one's pairs."""
        found = re.fullmatch(r"results/([^/]+)/model/?", encoder)
        return found is not None and (found[1] == name or name in self._made_from(found[1]))

    def _made_from(self, name: str, below: tuple[str, ...] = ()) -> set[str]:
        """The models that the corpora of a model come from, directly or not."""
        found: set[str] = set()
        if name in below or name not in self.raw["models"]:
            return found
        for item in self._entry(name, ()).get("corpora", []):
            for other in self._origins(item):
                found |= {other} | self._made_from(other, (*below, name))
        return found

    def _origins(self, item: str | Mapping[str, Any]) -> Iterator[str]:
        """The models that an item of corpora names, and the one that its translator is trained on."""
        if isinstance(item, str):
            return
        translator = self.raw.get("translators", {}).get(item.get("translator"), {})
        for origin in (item, item.get("from"), translator.get("from")):
            if isinstance(origin, Mapping) and "model" in origin:
                yield origin["model"]

    def _check_vectors(self, settings: Mapping[str, Any], split: str, where: str) -> None:
        """Check the word vectors that training starts from, if any.

        Raises:
            ConfigError: they are not in ``vectors``, or cannot be the beginning of this model.
        """
        key = settings["train"]["init_vectors"]
        if key is None:
            return
        where = f"{where}.train.init_vectors"
        if key not in self.vectors:
            raise ConfigError(
                f"{where}: {key} is not in `vectors`{closest(key, self.vectors)}; add it there, e.g. "
                f"`vectors: {{{key}: {{mirrors: [https://...], sha256: ...}}}}`"
            )
        if not (kind := of_kind(split)).is_words:
            raise ConfigError(
                f"{where}: {key} has vectors of words, but this model has {kind.pieces_called}; leave it out, or write "
                "`encoder: word`"
            )
        if settings["train"]["init_from"] is not None:
            raise ConfigError(f"{where}: {key}, but init_from names a model to start from; leave one of them out")

    def _differences(
        self,
        recipe: str,
        encoder: str,
        languages: tuple[str, ...],
        settings: Mapping[str, Any],
        parts: Iterable[Part],
        tuned: Collection[str],
    ) -> dict[str, Any]:
        """Settings that differ from a recipe's, by dotted key, except those that ``INERT`` names."""
        subwords, contextual = tokens(encoder, settings) == ENCODER.default, encoder == TRANSFORMER
        found: dict[str, Any] = {} if encoder == ENCODER.default else {"encoder": encoder}
        for block in BLOCKS:
            base = self._defaults(block, recipe, settings[block], encoder)
            if block == "development":
                base = _chosen_on(base, languages, block)
                if all(part.is_text for part in parts):
                    base["heldout"] = 0
            if contextual and block == "teacher":
                base |= transformer_entries.TEACHING
            if contextual and block == "transformer":
                base = self._transformer(recipe)
            if contextual and block in ("filters", "segment"):
                base = {**base, "lower_case": False} if block == "filters" else {}
            found |= differences(base, settings[block], block)
        for part in parts:
            expected = own_filters(settings) if part.kind == "mined" else settings["filters"]
            expected = for_text(expected) if part.is_text else expected
            found |= differences(expected, part.filters, f"corpora.{part.corpus}.filters")
            found |= differences(settings["rank"], part.rank, f"corpora.{part.corpus}.rank")
            if part.kind == "mined":
                found |= differences(settings["pivot"], part.pivot, f"corpora.{part.corpus}.pivot")
            if part.kind == "translated":
                own = {key: value for key, value in part.translation.items() if key in settings["backtranslate"]}
                found |= differences(settings["backtranslate"], own, f"corpora.{part.corpus}.backtranslate")
        unused = tuple(f"train.{key}" for key in tuned)  # the config's value is not used, tune.json's is
        if not settings["train"]["tune"]:  # a search whose winner is not used does not change the model
            unused += tuple(key for key in found if key.startswith("tune."))
        unused += tuple(f"corpora.{part.corpus}.filters.warn_share" for part in parts)
        unused += tuple(f"corpora.{part.corpus}.rank.tenths" for part in parts if not part.ranked)
        if not any(part.ranked for part in parts):
            unused += ("rank.tenths",)
        inert = (*INERT, "vocabulary." if subwords else "subword.", *([] if encoder in LSTMS else ["lstm."]))
        inert += transformer_entries.INERT if contextual else ("transformer.",)
        return {key: value for key, value in found.items() if not key.startswith(inert) and key not in unused}

    def variant(self, name: str, variant: str) -> Model:
        """Resolve a model as one of its variants trains it: another recipe and block ``train``, all else the same.

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
        block = "train" if model.base is None else "transformer"
        settings = {**model.settings, block: wanted.train}
        differences = self._differences(wanted.recipe, model.encoder, model.languages, settings, model.parts, ())
        return dataclasses.replace(model, recipe=wanted.recipe, settings=settings, differences=differences, tuned={})

    def task(self, name: str, task: str) -> tasks.Task:
        """One of a model's tasks.

        Raises:
            ConfigError: as :meth:`cleared`, or the model has no such task.
        """
        model = self.cleared(name)
        entries = model["evaluate"]["tasks"]
        if task not in entries:
            raise ConfigError(
                f"models.{name}.evaluate.tasks: {task} is not one of them{closest(task, entries)}; "
                f"there are {', '.join(entries) or 'none'}"
            )
        return tasks.make(entries[task], f"models.{name}.evaluate.tasks.{task}")

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
            ConfigError: as :meth:`cleared`, or the model is not compared with such a system.
        """
        known = systems.named(self.cleared(name)["compare"]["systems"])
        if system not in known:
            raise ConfigError(
                f"models.{name}.compare.systems: {system} is not one of them{closest(system, known)}; "
                f"there are {', '.join(known) or 'none'}"
            )
        return known[system]

    def tuning(self, name: str) -> Tuning:
        """The search for a model's training settings.

        Raises:
            ConfigError: as :meth:`cleared`; the model has no development data; or two points are the same.
        """
        model = self.cleared(name)
        self._check_tunable(model)
        return _check_grid(name, model.settings, model.parts)

    @staticmethod
    def _check_tunable(model: Model) -> None:
        if not model["development"]["sts"] and not model["development"]["heldout"]:
            raise ConfigError(
                f"models.{model.name}.development: sts is null and heldout is 0, but tuning chooses by the validation "
                "score; write e.g. `development: {heldout: 2000}`"
            )

    def studied(self, name: str, study: str) -> tuple[Part, ...]:
        """The corpora of a model that a study uses (:mod:`psp.config.study_entries`).

        Raises:
            ConfigError: as :meth:`cleared`, or the study cannot be made of them.
        """
        return study_entries.studied(self.cleared(name), study)

    def sampled(self, name: str, study: str, encoder: str) -> Model:
        """A model as a study trains it with an encoder, on a sample of the model's pairs.

        Raises:
            ConfigError: as :meth:`cleared`.
        """
        model = self.cleared(name)
        written = merge(self.raw.get("train", {}), self._entry(name, ()).get("train", {}))
        spelling = merge(self._defaults("train", model.recipe, encoder=encoder), written)["init_spelling"]
        wanted = {"init_spelling": 0 if unspelled(encoder) else spelling}
        return study_entries.sampled(model, study, encoder, wanted)

    def cleared_translator(self, name: str) -> Translator:
        """Resolve one translator that is about to be trained, and check its corpora's licences.

        Raises:
            ConfigError: as :meth:`translator`, or a corpus declares a licence outside ``licences.allow``, or none.
        """
        found = self.translator(name)
        if found.data is not None:
            self._check_licences(found.data.parts, f"translators.{name}")
        return found

    def cleared(self, name: str) -> Model:
        """Resolve one model that is about to be used; check its tasks, and that the licence of each corpus is allowed.

        The corpora and tasks of other models do not matter.

        Raises:
            ConfigError: as :meth:`model`; a task is wrong; a corpus declares a licence outside ``licences.allow``, or
                none.
        """
        model = self.model(name)
        for other, _ in model.combined:
            self.cleared(other)
        # Not where the config is read: a model's wrong task is nothing to the others.
        for task, chosen in model["evaluate"]["tasks"].items():
            tasks.make(chosen, f"models.{name}.evaluate.tasks.{task}")
        self._check_licences(model.parts, f"models.{name}")
        return model

    def _check_licences(self, parts: Iterable[Part], where: str) -> None:
        for part in parts:
            if problem := self.forbidden(part.licence):
                own = f"`- {{{next(iter(part.of.item), 'path')}: {part.path}, licence: ...}}`"
                if part.sources:
                    bitext = ", ".join(f"{source.corpus}: {source.licence or 'none'}" for source in part.sources)
                    translated = ", and of its translator" if part.kind == "translated" else ""
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

    def entry(self, name: str) -> dict[str, Any]:
        """A model's entry, with what it extends.

        Raises:
            ConfigError: no such model.
        """
        return self._entry(name, ())

    def _entry(self, name: str, below: tuple[str, ...]) -> dict[str, Any]:
        if name not in self.raw["models"]:
            what = f"models.{below[-1]}.extends: {name}" if below else name
            raise ConfigError(
                f"{what} is not a model of the config{closest(name, self.models)}; "
                f"there are {', '.join(self.models)}; add it under `models:`, "
                f"e.g. `{name}: {{languages: [en, fr], corpora: [Europarl]}}`"
            )
        entry = self.raw["models"][name]
        if "extends" not in entry:
            return dict(entry)
        if entry["extends"] in (*below, name):
            raise ConfigError(f"models.{name}.extends: {entry['extends']} extends {name} in turn; break the cycle")
        return merge(self._entry(entry["extends"], (*below, name)), {k: v for k, v in entry.items() if k != "extends"})

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
                raise ConfigError(f"{where}: models.{other} names no {missing[0]}, so there is nothing to take over")
            languages = theirs["languages"]
            pair = {"languages": [languages[0], languages[0]] if len(languages) == 1 else languages}
            for part in self._items(other, theirs, (*below, name)):
                own: dict[str, Any] = {"name": part} if isinstance(part, str) else part
                yield merge(own if _is_made(own) else {**pair, **own}, rest)  # what is made says its languages

    def _transformer(self, recipe: str) -> dict[str, Any]:
        """A recipe's block ``transformer``, with what a model has under ``encoder``."""
        return {**self._defaults("transformer", recipe), **transformer_entries.of_encoder(recipe)}

    def _defaults(
        self,
        block: str,
        recipe: str = RECIPES[0],
        own: Mapping[str, Any] | None = None,
        encoder: str = ENCODER.default,
    ) -> dict[str, Any]:
        found = defaults(self._schema["$defs"][block], self._schema, recipe, own or {})
        if block == "train" and unspelled(encoder):
            found["init_spelling"] = 0
        return found


def _is_made(item: str | Mapping[str, Any]) -> bool:
    """Whether an item of corpora is pairs that are made from bitext."""
    return is_mined(item) or is_translated(item)


def _check_unspelled(
    settings: Mapping[str, Any], variants: Mapping[str, Variant], encoder: str, why: str, where: str
) -> None:
    """Check that no training starts from a spelling that says nothing, for the reason ``why``.

    Raises:
        ConfigError: one does.
    """
    used = {"train.init_spelling": settings["train"]["init_spelling"]}  # first: a variant may have it from there
    used |= {f"variants.{name}.init_spelling": variant.train["init_spelling"] for name, variant in variants.items()}
    if settings["train"]["tune"]:
        used |= {"tune.grid.init_spelling": max(settings["tune"]["grid"].get("init_spelling", [0]))}
    for key, value in used.items():
        if value:
            raise ConfigError(
                f"{where}.{key} is {value}, but with `encoder: {encoder}` there is no spelling to start from: {why}; "
                "leave it out, or write `init_spelling: 0`"
            )


def _check_grid(name: str, settings: Mapping[str, Any], parts: Iterable[Part]) -> Tuning:
    tuning = Tuning(**settings["tune"])
    paraphrase = {part.paraphrase for part in parts}
    tuning.check(settings["train"], paraphrase=paraphrase, where=f"models.{name}.tune")
    return tuning


def _chosen_on(development: Mapping[str, Any], languages: tuple[str, ...], where: str) -> dict[str, Any]:
    """Resolve ``sts: auto`` in the block ``development``: English STS pairs for every model with English.

    Raises:
        ConfigError: English STS pairs are requested by name, but the model has no English.
    """
    sts = development["sts"]
    if sts == "auto":
        sts = SEMEVAL if "en" in languages else None
    if sts == SEMEVAL and "en" not in languages:
        raise ConfigError(
            f"{where}.development: sts is {SEMEVAL}, but the model has {' and '.join(languages)}; write "
            "`development: {sts: null}` to choose by the held-out pairs, or name a file of STS pairs in its languages"
        )
    return {**development, "sts": _path(sts)}


def _path(path: str | None) -> str | None:
    """A path with each ``${VARIABLE}`` replaced; ``~/`` is replaced when the config is read."""
    return path and os.path.expandvars(path)
