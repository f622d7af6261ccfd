"""Entries of models trained on corpora of their own: what all their kinds share, and the most frequent kind."""

from __future__ import annotations

import dataclasses
import functools
from abc import abstractmethod
from collections.abc import Mapping
from typing import Any

from psp.config.blocks.entries import BLOCK, BLOCKS, DEFAULT_ENCODER, DEFAULT_SEEDS, Top
from psp.config.blocks.evaluation import SEMEVAL
from psp.config.blocks.filters import for_text
from psp.config.blocks.overlay import differences, merge
from psp.config.blocks.training import LSTMS, TUNABLE
from psp.config.blocks.vocabulary import PIECES
from psp.config.corpus_entries import check_distinct, check_ranking
from psp.config.made_entries import making
from psp.config.model import EntryKind, ModelEntry, unspelled
from psp.config.teacher_entries import resolve_teacher
from psp.config.variant_entries import GRID
from psp.config.variant_entries import resolve as resolve_variants
from psp.config.written import Written, expanded
from psp.core.errors import ConfigError, closest
from psp.evaluation import systems
from psp.models import CONFIG, SENTENCEPIECE, WEIGHTS
from psp.pairs.stats.settings import check as check_stats
from psp.text.languages import check_codes
from psp.training import grid, losses


@functools.cache
def _inert() -> tuple[str, ...]:
    """Prefixes of the dotted keys of settings that change no model."""
    return tuple(key for block in BLOCKS if block != "segment" for key in BLOCK[block].inert(block))


class Trained(EntryKind):
    """A model that is trained on corpora of its own; what differs by kind is in the methods below."""

    block: str
    joins = False
    #: Whether a model of this kind learns from the teacher that its recipe names; else only from one of the config.
    recipe_teaches = True

    @abstractmethod
    def check(self, config: Written, name: str, entry: Mapping[str, Any]) -> str | None:
        """Check an entry; return what training begins with, if the entry has it.

        Raises:
            ConfigError: it has a key that is for another kind.
        """

    def complete(
        self, config: Written, name: str, settings: dict[str, Any], entry: Mapping[str, Any], recipe: str
    ) -> dict[str, Any]:
        """The blocks of a model of this kind, from the blocks as written and their defaults."""
        return settings

    def expected(self, block: str, base: dict[str, Any], recipe: str) -> dict[str, Any]:
        """A recipe's block for a model of this kind."""
        return base

    @abstractmethod
    def of_recipe(self) -> list[str]:
        """The keys of its block that a variant's recipe sets: what is learned, and which weights are kept."""

    @abstractmethod
    def check_training(self, config: Written, model: ModelEntry, searched: Mapping[str, Any]) -> None:
        """Check the settings of training against one another.

        Args:
            searched: the model's grid; empty without one.

        Raises:
            ConfigError: they do not fit.
        """

    @abstractmethod
    def inert(self, model: ModelEntry) -> tuple[str, ...]:
        """Prefixes of the dotted keys of settings that do not change this model, besides those that change none."""

    def resolve(self, config: Written, name: str, entry: Mapping[str, Any]) -> ModelEntry:
        where = f"models.{name}"
        base = self.check(config, name, entry)
        if "models" in config.raw["models"][name].get("report", {}):
            raise ConfigError(f"{where}.report.models: compares models, so it stands at the top level of a config")
        if "languages" not in entry:
            raise ConfigError(f"{where}: names no languages; write e.g. `languages: [en, fr]`")
        if "corpora" not in entry:
            example = next(iter(config.corpora), "Europarl")
            raise ConfigError(f"{where}: names no corpora; write e.g. `corpora: [{example}]`")
        languages = tuple(entry["languages"])
        check_codes(languages, f"{where}.languages")
        recipe = entry.get("recipe", config.raw.get("recipe", Top.default("recipe")))
        seed = entry.get("seed", config.raw.get("seed", Top.default("seed")))
        given = entry.get("encoder", DEFAULT_ENCODER)
        encoder: str = given["kind"] if isinstance(given, Mapping) else given
        settings: dict[str, Any] = {}
        written = {block: merge(config.raw.get(block, {}), entry.get(block, {})) for block in BLOCKS}
        for block, own in written.items():
            # `segment` is a table by language: only an entry's own languages are filled in.
            settings[block] = merge(config.defaults(block, recipe, own, encoder), own)
        settings["segment"] = {code: how for code, how in settings["segment"].items() if how is not None}
        settings = with_paths(self.complete(config, name, settings, entry, recipe))
        check_stats(settings["stats"], languages, f"{where}.stats")
        settings["development"] = chosen_on(settings["development"], languages, where)
        parts = config.parts(name, entry, settings, written["filters"], recipe)
        check_ranking(parts, f"{where}.corpora")
        check_distinct(parts, f"{where}.corpora")
        of_recipe = "encoder" not in written["teacher"]
        if of_recipe and not self.recipe_teaches:
            settings["teacher"]["encoder"] = None
        settings["teacher"] = resolve_teacher(config, name, settings, parts, of_recipe=of_recipe)
        if all(part.is_text for part in parts):
            settings["development"] = {**settings["development"], "heldout": 0}  # a sentence has no other side to find
        if settings["train"]["precision"] == "mixed" and settings["train"]["device"] == "cpu":
            raise ConfigError(
                f"{where}.train: precision is mixed, which is for GPUs, but device is cpu; write `precision: float32`"
            )
        systems.check(settings["compare"], settings["evaluate"]["tasks"], where)
        searched = entry.get("variants", {}).get(GRID) or {}
        model = ModelEntry(
            of=self,
            name=name,
            languages=languages,
            parts=parts,
            recipe=recipe,
            seed=seed,
            settings=settings,
            differences={},
            tuned={
                key: value
                for key, value in config.defaults("train", recipe, encoder=encoder).items()
                if settings["train"]["settings_from"] and key in grid.searched(searched)
            },
            variants=resolve_variants(
                entry.get("variants", {}),
                recipe=recipe,
                seed=seed,
                seeds=entry.get("seeds", DEFAULT_SEEDS),
                train=settings[self.block],
                defaults=lambda of: self.expected(self.block, config.defaults(self.block, of, encoder=encoder), of),
                of_recipe=self.of_recipe(),
                where=where,
            ),
            encoder=encoder,
            base=base,
        )
        self.check_training(config, model, searched)
        return dataclasses.replace(model, differences=self.differences(config, model))

    def differences(self, config: Written, model: ModelEntry) -> dict[str, Any]:
        settings, parts, recipe = model.settings, model.parts, model.recipe
        changed: dict[str, Any] = {} if model.encoder == DEFAULT_ENCODER else {"encoder": model.encoder}
        for block in BLOCKS:
            base = self.expected(block, config.defaults(block, recipe, settings[block], model.encoder), recipe)
            if block == "development":
                base = chosen_on(base, model.languages, block)
                if all(part.is_text for part in parts):
                    base["heldout"] = 0
            elif block == "teacher" and base["encoder"] == settings[block]["encoder"] is not None:
                from psp.models.registry import known_languages

                base["languages"] = list(known_languages(base["encoder"]) or ())  # as they have been filled in
            changed |= differences(base, settings[block], block)
        for part in parts:
            made = making(part)
            expected = made.filters(settings) if made else settings["filters"]
            expected = for_text(expected) if part.is_text else expected
            changed |= differences(expected, part.filters, f"corpora.{part.corpus}.filters")
            changed |= differences(settings["rank"], part.rank, f"corpora.{part.corpus}.rank")
            if made:
                changed |= differences(settings[made.block], made.own(part), f"corpora.{part.corpus}.{made.block}")
        unused = tuple(f"train.{key}" for key in model.tuned)  # the config's value is not used, the best point's is
        unused += tuple(f"corpora.{part.corpus}.{key}" for part in parts for key in _inert())
        unused += tuple(f"corpora.{part.corpus}.rank.deciles" for part in parts if not part.ranked)
        if not any(part.ranked for part in parts):
            unused += ("rank.deciles",)
        beside = (*_inert(), *self.inert(model))
        return {key: value for key, value in changed.items() if not key.startswith(beside) and key not in unused}


class TableEntry(Trained):
    """A matrix of embeddings of subwords, words or trigrams, averaged, or read by an LSTM."""

    called = "a model of embeddings"
    block = "train"
    stores = True
    has_every_block = True
    there_is = None

    def fits(self, entry: Mapping[str, Any]) -> bool:
        return not isinstance(entry.get("encoder"), Mapping)

    def check(self, config: Written, name: str, entry: Mapping[str, Any]) -> str | None:
        for variant, own in entry.get("variants", {}).items():
            if "transformer" in (own or {}):
                raise ConfigError(
                    f"models.{name}.variants.{variant}.transformer: is for transformers, which this model is not; "
                    "leave it out"
                )
        return None

    def of_recipe(self) -> list[str]:
        return [*TUNABLE, "select"]

    def check_training(self, config: Written, model: ModelEntry, searched: Mapping[str, Any]) -> None:
        _check_vectors(config, model)
        if why := unspelled(model.encoder):
            _check_unspelled(model, why)
        for variant in model.variants.values():
            try:
                losses.check(variant.train)
            except ConfigError as error:
                raise ConfigError(f"models.{model.name}.{error}") from None
        where = f"models.{model.name}.variants.{GRID}"
        if searched:
            grid.check(where, searched, [*model.points.values()])
            check_chosen(model, f"`variants: {{{GRID}: ...}}`")
        elif model["train"]["settings_from"]:
            raise ConfigError(
                f"{where}: is not there, but train.settings_from is variants; write e.g. `variants: {{grid: {{dropout: "
                "[0, 0.1, 0.3], megabatch: [60, 100, 140]}}`"
            )
        if model["train"]["select"] == "best":
            check_chosen(model, "`train: {select: best}`")

    def inert(self, model: ModelEntry) -> tuple[str, ...]:
        own = {model.pieces.block, "lstm" if model.encoder in LSTMS else None}
        others = {kind.block for kind in PIECES.values()} | {"lstm"}
        return ("transformer.", *(f"{block}." for block in others - own if block))

    def files(self, model: ModelEntry) -> list[str]:
        return [CONFIG, model.pieces.file, WEIGHTS]

    def rule(self, model: ModelEntry) -> str:
        return "train" if model.pieces.file == SENTENCEPIECE else "train_vocabulary"


def with_paths(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The blocks with each ``${VARIABLE}`` of a path replaced."""
    evaluate, stats = settings["evaluate"], settings["stats"]
    files = {name: expanded(file) for name, file in evaluate["files"].items()}
    return {
        **settings,
        "evaluate": {**evaluate, "files": files},
        "train": {
            **settings["train"],
            **{key: expanded(settings["train"][key]) for key in ("init_from", "init_encoder")},
        },
        "teacher": {**settings["teacher"], "encoder": expanded(settings["teacher"]["encoder"])},
        "stats": {
            **stats,
            "labels": [expanded(file) for file in stats["labels"]],
            "idf_from": {language: expanded(file) for language, file in stats["idf_from"].items()},
        },
    }


def chosen_on(development: Mapping[str, Any], languages: tuple[str, ...], where: str) -> dict[str, Any]:
    """Resolve the block ``development``: ``sts: auto``, and only the sets in the model's languages.

    With ``auto``, English STS pairs are for every model with English.

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
    own = {name: entry for name, entry in development["sets"].items() if entry["language"] in languages}
    sets = {name: {**entry, "metric": _metric(entry), "weight": entry.get("weight", 1)} for name, entry in own.items()}
    return {**development, "sts": expanded(sts), "sets": sets}


def _metric(entry: Mapping[str, Any]) -> str:
    """The metric by which a system is scored on a development set."""
    from psp.evaluation.judged import metric

    return metric(entry)


def check_chosen(model: ModelEntry, what: str) -> None:
    """Check that there is a score to choose by.

    Args:
        what: chooses, such as "`train: {select: best}`".

    Raises:
        ConfigError: there is none.
    """
    development = model["development"]
    if not (development["sts"] or development["heldout"] or development["sets"]):
        raise ConfigError(
            f"models.{model.name}.development: sts is null and heldout is 0, but {what} chooses by the validation "
            "score; write e.g. `development: {heldout: 2000}`"
        )


def _check_vectors(config: Written, model: ModelEntry) -> None:
    """Check the word vectors that training starts from, if any.

    Raises:
        ConfigError: they are not in ``vectors``, or cannot be used for this model.
    """
    key = model["train"]["init_vectors"]
    if key is None:
        return
    where = f"models.{model.name}.train.init_vectors"
    if key not in config.vectors:
        raise ConfigError(
            f"{where}: {key} is not in `vectors`{closest(key, config.vectors)}; add it there, e.g. "
            f"`vectors: {{{key}: {{mirrors: [https://...], sha256: ...}}}}`"
        )
    if not model.pieces.is_words:
        raise ConfigError(
            f"{where}: {key} has vectors of words, but this model has {model.pieces.called}; leave it out, "
            "or write `encoder: word`"
        )
    if model["train"]["init_from"] is not None:
        raise ConfigError(f"{where}: {key}, but init_from names a model to start from; leave one of them out")


def _check_unspelled(model: ModelEntry, why: str) -> None:
    """Check that no training run starts from spelling that is not informative, or an encoder of it, for a reason.

    Raises:
        ConfigError: one does.
    """
    where, train = f"models.{model.name}", model["train"]
    used = {"train.init_spelling": train["init_spelling"]}  # first: a variant may have it from there
    used |= {f"variants.{name}.init_spelling": one.train["init_spelling"] for name, one in model.variants.items()}
    for key, value in used.items():
        if value:
            raise ConfigError(
                f"{where}.{key} is {value}, but with `encoder: {model.encoder}` there is no spelling to start from: "
                f"{why}; leave it out, or write `init_spelling: 0`"
            )
    if train["init_encoder"] is not None:
        raise ConfigError(
            f"{where}.train.init_encoder: `encoder: {model.encoder}` has no pieces that an encoder could embed: {why}; "
            "leave it out"
        )
