"""Entries of models trained on corpora of their own: what all their kinds share, and the most frequent kind."""

from __future__ import annotations

import functools
from abc import abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

from psp.config.blocks import ENCODER
from psp.config.corpus_entries import CorpusSpec, check_ranking
from psp.config.entries import BLOCKS, DEFAULT_SEEDS, TOP, sections
from psp.config.made_entries import making
from psp.config.model import EntryKind, ModelEntry, tokens, unspelled
from psp.config.overlay import merge
from psp.config.schema import differences
from psp.config.teacher_entries import resolve_teacher
from psp.config.training import FromStore, TrainedKind
from psp.config.variant_entries import VariantEntry
from psp.config.variant_entries import resolve as resolve_variants
from psp.config.written import Written, expanded
from psp.core.errors import ConfigError, closest
from psp.core.settings import inert
from psp.evaluation import systems
from psp.evaluation.judged import metric
from psp.evaluation.testsets import SEMEVAL
from psp.models.files import CONFIG, WEIGHTS
from psp.pairs.filters import for_text
from psp.pairs.stats.settings import check as check_stats
from psp.text.tokenizer_kinds import kinds, of_kind
from psp.training import launch
from psp.training.encoders import kinds as encoders
from psp.training.encoders.kinds import block_of
from psp.training.tune import Tuning, tunable


@functools.cache
def _inert() -> tuple[str, ...]:
    """Prefixes of the dotted keys of settings that change no model."""
    declared = sections()
    return tuple(key for block in BLOCKS for key in inert(block, declared[block]))


class Trained(EntryKind, TrainedKind):
    """A model that is trained; what differs by kind is in the methods below."""

    joins = False

    #: Prefixes of the dotted keys of settings that do not change such models, besides inert ones.
    inert: ClassVar[tuple[str, ...]]

    @classmethod
    @abstractmethod
    def encoder(cls, entry: Mapping[str, Any]) -> str:
        """The kind of its encoder."""

    @classmethod
    @abstractmethod
    def check(cls, config: Written, name: str, entry: Mapping[str, Any]) -> str | None:
        """Check an entry; return what training begins with, if the entry has it.

        Raises:
            ConfigError: it has a key that is for another kind.
        """

    @classmethod
    @abstractmethod
    def complete(
        cls, config: Written, name: str, settings: Mapping[str, Any], entry: Mapping[str, Any], recipe: str
    ) -> dict[str, Any]:
        """The blocks of a model of this kind, from the blocks as written and their defaults."""

    @classmethod
    @abstractmethod
    def expected(cls, config: Written, block: str, base: dict[str, Any], recipe: str) -> dict[str, Any]:
        """A recipe's block for a model of this kind."""

    @classmethod
    @abstractmethod
    def variants(
        cls,
        config: Written,
        entry: Mapping[str, Any],
        settings: Mapping[str, Any],
        encoder: str,
        where: str,
        resolved: Callable[..., dict[str, VariantEntry]],
    ) -> dict[str, VariantEntry]:
        """Its variants; ``resolved`` makes them from settings."""

    @classmethod
    @abstractmethod
    def check_training(
        cls,
        config: Written,
        settings: Mapping[str, Any],
        encoder: str,
        variants: Mapping[str, VariantEntry],
        where: str,
    ) -> None:
        """Check the settings of training against one another.

        Raises:
            ConfigError: they do not fit.
        """

    @classmethod
    def tuned(cls, config: Written, settings: Mapping[str, Any], recipe: str, encoder: str) -> dict[str, Any]:
        """The recipe's value for each key of ``train`` that a search decides."""
        return {}

    @classmethod
    def check_grid(cls, name: str, model: ModelEntry, written: Mapping[str, Any]) -> None:
        """Check the search for its settings, if it has one.

        Raises:
            ConfigError: the search cannot be made.
        """

    @classmethod
    def resolve(cls, config: Written, name: str, entry: Mapping[str, Any]) -> ModelEntry:
        where = f"models.{name}"
        base = cls.check(config, name, entry)
        if "models" in config.raw["models"][name].get("report", {}):
            raise ConfigError(f"{where}.report.models: compares models, so it stands at the top level of a config")
        if "languages" not in entry:
            raise ConfigError(f"{where}: names no languages; write e.g. `languages: [en, fr]`")
        if "corpora" not in entry:
            example = next(iter(config.corpora), "Europarl")
            raise ConfigError(f"{where}: names no corpora; write e.g. `corpora: [{example}]`")
        languages = tuple(entry["languages"])
        recipe = entry.get("recipe", config.raw.get("recipe", TOP["recipe"].default))
        encoder = cls.encoder(entry)
        settings: dict[str, Any] = {}
        written = {block: merge(config.raw.get(block, {}), entry.get(block, {})) for block in BLOCKS}
        for block, own in written.items():
            # `segment` is a table by language: only an entry's own languages are filled in.
            settings[block] = merge(config.defaults(block, recipe, own, encoder), own)
            if block == "tune" and "grid" in own:
                settings[block]["grid"] = own["grid"]  # a grid in the config replaces the whole default
        settings = with_paths(cls.complete(config, name, settings, entry, recipe))
        check_stats(settings["stats"], languages, f"{where}.stats")
        settings["development"] = chosen_on(settings["development"], languages, where)
        tuned = cls.tuned(config, settings, recipe, encoder)
        parts = config.parts(name, entry, settings, written["filters"], recipe)
        check_ranking(parts, f"{where}.corpora", {part.label: part.rank["by"] for part in parts}, "rank.by")
        labels = [part.label for part in parts]
        if repeated := next((label for label in labels if labels.count(label) > 1), None):
            raise ConfigError(f"{where}.corpora: {repeated} is listed twice; leave one out")
        settings["teacher"] = resolve_teacher(
            settings["teacher"],
            model=name,
            parts=parts,
            train=settings["train"],
            languages_of=lambda other: config.entry(other).get("languages") if other in config.raw["models"] else None,
            where=where,
        )
        if all(part.is_text for part in parts):
            settings["development"] = {**settings["development"], "heldout": 0}  # a sentence has no other side to find
        launch.check(settings["train"], where=f"{where}.train")
        systems.check(settings["compare"], settings["evaluate"]["tasks"], where)
        resolved = functools.partial(
            resolve_variants, recipe=recipe, seeds=entry.get("seeds", DEFAULT_SEEDS), where=where
        )
        variants = cls.variants(config, entry, settings, encoder, where, resolved)
        cls.check_training(config, settings, encoder, variants, where)
        model = ModelEntry(
            of=cls,
            name=name,
            languages=languages,
            parts=parts,
            recipe=recipe,
            seed=entry.get("seed", config.raw.get("seed", TOP["seed"].default)),
            settings=settings,
            differences=cls.differences(config, recipe, encoder, languages, settings, parts, tuned),
            tuned=tuned,
            variants=variants,
            encoder=encoder,
            base=base,
        )
        cls.check_grid(name, model, written["tune"])
        return model

    @classmethod
    def differences(
        cls,
        config: Written,
        recipe: str,
        encoder: str,
        languages: tuple[str, ...],
        settings: Mapping[str, Any],
        parts: Sequence[CorpusSpec],
        tuned: Collection[str],
    ) -> dict[str, Any]:
        changed: dict[str, Any] = {} if encoder == ENCODER.default else {"encoder": encoder}
        for block in BLOCKS:
            base = cls.expected(config, block, config.defaults(block, recipe, settings[block], encoder), recipe)
            if block == "development":
                base = chosen_on(base, languages, block)
                if all(part.is_text for part in parts):
                    base["heldout"] = 0
            changed |= differences(base, settings[block], block)
        for part in parts:
            made = making(part)
            expected = made.filters(settings) if made else settings["filters"]
            expected = for_text(expected) if part.is_text else expected
            changed |= differences(expected, part.filters, f"corpora.{part.corpus}.filters")
            changed |= differences(settings["rank"], part.rank, f"corpora.{part.corpus}.rank")
            if made:
                changed |= differences(settings[made.block], made.own(part), f"corpora.{part.corpus}.{made.block}")
        unused = tuple(f"train.{key}" for key in tuned)  # the config's value is not used, tune.json's is
        if not settings["train"]["tune"]:  # a search whose winner is not used does not change the model
            unused += tuple(key for key in changed if key.startswith("tune."))
        unused += tuple(f"corpora.{part.corpus}.{key}" for part in parts for key in _inert())
        unused += tuple(f"corpora.{part.corpus}.rank.deciles" for part in parts if not part.ranked)
        if not any(part.ranked for part in parts):
            unused += ("rank.deciles",)
        beside = (*_inert(), *cls.inert, *cls.unread(encoder, settings))
        return {key: value for key, value in changed.items() if not key.startswith(beside) and key not in unused}

    @classmethod
    def unread(cls, encoder: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        """As ``inert``, of this encoder."""
        return ()


class TableEntry(FromStore, Trained):
    """A matrix of embeddings of subwords, words or trigrams, averaged, or read by an LSTM."""

    called = "a model of embeddings"
    block = "train"
    stores = True
    has_every_block = True
    there_is = None
    inert = ("transformer.",)

    @classmethod
    def fits(cls, entry: Mapping[str, Any]) -> bool:
        return not isinstance(entry.get("encoder"), Mapping)

    @classmethod
    def encoder(cls, entry: Mapping[str, Any]) -> str:
        return str(entry.get("encoder", ENCODER.default))

    @classmethod
    def check(cls, config: Written, name: str, entry: Mapping[str, Any]) -> str | None:
        for variant, own in entry.get("variants", {}).items():
            if "transformer" in (own or {}):
                raise ConfigError(
                    f"models.{name}.variants.{variant}.transformer: is for transformers, which this model is not; "
                    "leave it out"
                )
        return None

    @classmethod
    def complete(
        cls, config: Written, name: str, settings: Mapping[str, Any], entry: Mapping[str, Any], recipe: str
    ) -> dict[str, Any]:
        return dict(settings)

    @classmethod
    def expected(cls, config: Written, block: str, base: dict[str, Any], recipe: str) -> dict[str, Any]:
        return base

    @classmethod
    def tuned(cls, config: Written, settings: Mapping[str, Any], recipe: str, encoder: str) -> dict[str, Any]:
        if not settings["train"]["tune"]:
            return {}
        recipes = config.defaults("train", recipe, encoder=encoder)
        return {key: recipes[key] for key in settings["tune"]["grid"]}

    @classmethod
    def variants(
        cls,
        config: Written,
        entry: Mapping[str, Any],
        settings: Mapping[str, Any],
        encoder: str,
        where: str,
        resolved: Callable[..., dict[str, VariantEntry]],
    ) -> dict[str, VariantEntry]:
        return resolved(
            entry.get("variants", {}),
            train=settings["train"],
            defaults=functools.partial(config.defaults, "train", encoder=encoder),
            of_recipe=[*tunable(), "select"],  # a recipe also decides which weights are kept
        )

    @classmethod
    def check_training(
        cls,
        config: Written,
        settings: Mapping[str, Any],
        encoder: str,
        variants: Mapping[str, VariantEntry],
        where: str,
    ) -> None:
        _check_vectors(config, settings, tokens(encoder, settings), where)
        if why := unspelled(encoder):
            _check_unspelled(settings, variants, encoder, why, where)
            if settings["train"]["init_encoder"] is not None:
                raise ConfigError(
                    f"{where}.train.init_encoder: `encoder: {encoder}` has no pieces that an encoder could embed: "
                    f"{why}; leave it out"
                )

    @classmethod
    def check_grid(cls, name: str, model: ModelEntry, written: Mapping[str, Any]) -> None:
        if model["train"]["tune"] or "grid" in written:  # the recipe's grid need not fit a model without a search
            tuning_of(model)
        if model["train"]["tune"]:
            check_tunable(model)

    @classmethod
    def unread(cls, encoder: str, settings: Mapping[str, Any]) -> tuple[str, ...]:
        own = {of_kind(tokens(encoder, settings)).block, block_of(encoder)}
        others = {of_kind(kind).block for kind in kinds()} | {block_of(kind) for kind in encoders.names()}
        return tuple(f"{block}." for block in others - own if block)

    @classmethod
    def files(cls, model: ModelEntry, of: Callable[[str], ModelEntry]) -> list[str]:
        return [CONFIG, model.tokenizer.file, WEIGHTS]


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
        "inspect": {**settings["inspect"], "encoder": expanded(settings["inspect"]["encoder"])},
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
    sets = {name: {**entry, "metric": metric(entry), "weight": entry.get("weight", 1)} for name, entry in own.items()}
    return {**development, "sts": expanded(sts), "sets": sets}


def tuning_of(model: ModelEntry) -> Tuning:
    """The search for a model's settings.

    Raises:
        ConfigError: two points are the same, or one does not fit the model.
    """
    tuning = Tuning(**model["tune"])
    paraphrase = {part.paraphrase for part in model.parts}
    tuning.check(model["train"], paraphrase=paraphrase, where=f"models.{model.name}.tune")
    return tuning


def check_tunable(model: ModelEntry) -> None:
    """Check that a search has a score to choose by.

    Raises:
        ConfigError: it has none.
    """
    if not model["development"]["sts"] and not model["development"]["heldout"]:
        raise ConfigError(
            f"models.{model.name}.development: sts is null and heldout is 0, but tuning chooses by the validation "
            "score; write e.g. `development: {heldout: 2000}`"
        )


def _check_vectors(config: Written, settings: Mapping[str, Any], split: str, where: str) -> None:
    """Check the word vectors that training starts from, if any.

    Raises:
        ConfigError: they are not in ``vectors``, or cannot be used for this model.
    """
    key = settings["train"]["init_vectors"]
    if key is None:
        return
    where = f"{where}.train.init_vectors"
    if key not in config.vectors:
        raise ConfigError(
            f"{where}: {key} is not in `vectors`{closest(key, config.vectors)}; add it there, e.g. "
            f"`vectors: {{{key}: {{mirrors: [https://...], sha256: ...}}}}`"
        )
    if not (kind := of_kind(split)).is_words:
        raise ConfigError(
            f"{where}: {key} has vectors of words, but this model has {kind.pieces_called}; leave it out, or write "
            "`encoder: word`"
        )
    if settings["train"]["init_from"] is not None:
        raise ConfigError(f"{where}: {key}, but init_from names a model to start from; leave one of them out")


def _check_unspelled(
    settings: Mapping[str, Any], variants: Mapping[str, VariantEntry], encoder: str, why: str, where: str
) -> None:
    """Check that no training run starts from spelling that is not informative, for the reason ``why``.

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
