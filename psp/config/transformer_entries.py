"""Entries of models that are transformers: ``encoder: {kind: transformer, base: ..., pooling: ..., dim: ...}``.

They go through the same stages as other models up to the mixed pairs, but read text as their base's tokenizer does: in
its own case and unsegmented. How they are trained is in the block ``transformer``.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.config.variant_entries import Variant
from psp.core.errors import ConfigError
from psp.core.settings import Section, choice, text
from psp.models.files import TRANSFORMER
from psp.training.transformer.settings import JOB, OF_ENCODER, TransformerSettings

#: The mapping ``encoder`` of such an entry.
ENCODER = Section(
    "a transformer, trained by sentence-transformers",
    {
        "kind": choice(
            options=[TRANSFORMER],
            help="this says that it is a transformer; any other kind is written without it, such as `encoder: word`",
        ),
        "base": text(
            at_least=1,
            help="what training begins with: a folder of a transformer or of a sentence-transformers model, "
            "`package://<installed package>/<folder>`, or a name on the Hugging Face Hub that has been downloaded",
        ),
        **{key: TransformerSettings.declared()[key] for key in OF_ENCODER},
    },
    required=["kind", "base"],
)
#: Settings that change nothing of what is learned.
_INERT = (*JOB, "device", "log_every", "checkpoint_steps")
#: Settings that a variant of such a model may have of its own.
TUNABLE = {key: setting for key, setting in TransformerSettings.declared().items() if key not in _INERT}
#: Blocks that are about tables of embeddings.
OF_TABLES = ("segment", "subword", "vocabulary", "store", "lstm", "train", "tune", "quantize", "speed")
#: The beginnings of dotted keys that do not change such a model.
INERT = (*(f"{block}." for block in OF_TABLES), *(f"transformer.{key}" for key in _INERT))
#: Keys of the block ``teacher`` that a transformer's may have.
OF_TEACHER = ("encoder", "languages", "sentences", "precision")
#: What the other keys of that block are: it learns a teacher's vectors themselves, and nothing beside them.
TEACHING = {"weight": 1, "loss": "kl"}


def is_transformer(entry: Mapping[str, Any]) -> bool:
    """Whether a model's entry is that of a transformer."""
    encoder = entry.get("encoder")
    return isinstance(encoder, Mapping) and "kind" in encoder


def check(entry: Mapping[str, Any], variants: Mapping[str, Mapping[str, Any] | None], where: str) -> None:
    """Check the keys of an entry.

    Args:
        entry: its own keys, without those of the entry that it extends: what it inherits may be about tables.
        variants: all variants, those that it inherits included.
        where: its place in the config.

    Raises:
        ConfigError: one is about tables of embeddings, or asks for lower-cased text.
    """
    if wrong := next((key for key in OF_TABLES if key in entry), None):
        instead = "; its training is the block `transformer`" if wrong == "train" else ""
        raise ConfigError(f"{where}.{wrong}: is not for transformers{instead}; leave it out")
    if wrong := next((key for key in entry.get("teacher", {}) if key not in OF_TEACHER), None):
        raise ConfigError(
            f"{where}.teacher.{wrong}: is not for transformers, which learn a teacher's vectors by "
            "`transformer.distance`; leave it out"
        )
    if entry.get("filters", {}).get("lower_case"):
        raise ConfigError(
            f"{where}.filters.lower_case: a transformer reads text as its base's tokenizer does, which lower-cases it "
            "if the base wants that; leave it out"
        )
    for name, variant in variants.items():
        if wrong := next((key for key in variant or {} if key not in ("recipe", "seeds", "transformer")), None):
            raise ConfigError(
                f"{where}.variants.{name}.{wrong}: is not for transformers; write e.g. "
                f"`{name}: {{transformer: {{pooling: lstm}}}}`, or `{name}: null` if it comes from a model that this "
                "one extends"
            )


def resolve(settings: Mapping[str, Any], encoder: Mapping[str, Any], recipe: str) -> dict[str, Any]:
    """The blocks of such a model: with what ``encoder`` says in ``transformer``, and text in its own case.

    Args:
        settings: the resolved blocks.
        encoder: the entry's.
        recipe: the model's.
    """
    block = {**settings["transformer"], **of_encoder(recipe), **_own(encoder)}
    filters = {**settings["filters"], "lower_case": False}
    teacher = {**settings["teacher"], **TEACHING}
    return {**settings, "teacher": teacher, "transformer": block, "filters": filters, "segment": {}}


def refuse(variants: Mapping[str, Mapping[str, Any] | None], where: str) -> None:
    """Check that no variant of another model has settings of transformers.

    Raises:
        ConfigError: one has.
    """
    for name, variant in variants.items():
        if "transformer" in (variant or {}):
            raise ConfigError(
                f"{where}.variants.{name}.transformer: is for transformers, which this model is not; leave it out"
            )


def of_encoder(recipe: str) -> dict[str, Any]:
    """A recipe's settings under ``encoder``."""
    declared = TransformerSettings.declared()
    return {key: declared[key].recipes.get(recipe, declared[key].default) for key in OF_ENCODER}


def _own(encoder: Mapping[str, Any]) -> dict[str, Any]:
    return {key: encoder[key] for key in OF_ENCODER if key in encoder}


def base_of(encoder: Mapping[str, Any], where: str) -> str:
    """The base, with each ``${VARIABLE}`` and ``~`` replaced.

    Raises:
        ConfigError: it names a variable that is not set.
    """
    base = os.path.expandvars(str(encoder["base"]))
    if "${" in base:
        raise ConfigError(f"{where}.encoder.base: {base}: the variable is not set; set it, or write the path")
    return str(Path(base).expanduser()) if base.startswith("~") else base


def missing_base(base: str) -> bool:
    """Whether a base can only be a folder, and is none."""
    return (base.startswith((".", "/")) or base.count("/") > 1) and "://" not in base and not Path(base).is_dir()


def flat(variants: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Mapping[str, Any] | None]:
    """Variants with the keys of their block ``transformer`` beside ``recipe`` and ``seeds``."""
    return {
        name: entry and {**{k: v for k, v in entry.items() if k != "transformer"}, **entry.get("transformer", {})}
        for name, entry in variants.items()
    }


def check_variants(variants: Mapping[str, Variant], where: str) -> None:
    """Check the settings of a model and its variants, which the schema knows one by one.

    Raises:
        ConfigError: they do not fit one another.
    """
    for variant in variants.values():
        try:
            TransformerSettings.from_mapping({key: value for key, value in variant.train.items() if key not in JOB})
        except ConfigError as error:
            place = where if variant.base else f"{where}.variants.{variant.name}"
            raise ConfigError(f"{place}.{error}") from None
