"""Entries of models that are transformers: ``encoder: {kind: transformer, base: ..., pooling: ..., dim: ...}``.

They share the stages of other models up to the mixed pairs, but read text as their base's tokenizer does: in its
original case and unsegmented. The block ``transformer`` has their training settings.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.config.blocks.transformer import OF_ENCODER, TUNABLE, TransformerSettings
from psp.config.model import ModelEntry
from psp.config.trained_entries import Trained
from psp.config.written import Written
from psp.core.errors import ConfigError
from psp.evaluation import systems
from psp.models import TRANSFORMER_NAMES

#: Blocks that are about tables of embeddings.
OF_TABLES = ("segment", "subword", "vocabulary", "store", "lstm", "train", "quantize", "speed")
#: Keys of the block ``teacher`` that a transformer's may have.
OF_TEACHER = ("encoder", "languages", "sentences", "precision")
#: Values of that block's other keys: a transformer learns only a teacher's vectors themselves.
TEACHING = {"weight": 1, "loss": "kl"}


class TransformerEntry(Trained):
    """A transformer."""

    called = "a transformer"
    block = "transformer"
    recipe_teaches = False  # with a teacher it would learn from no pairs
    stores = False
    there_is = re.compile(
        r"(model/|systems/|tasks/|train/|pairs/|variants/|logs/)"
        r"|(eval|compare|data|variants|examples|lexicon)\.json$"
        r"|eval\.safetensors$|lexicon\.tsv$|(data|card)\.md$|report\.html$|stats\.|release(\.zip(\.sha256)?)?$"
    )

    def fits(self, entry: Mapping[str, Any]) -> bool:
        encoder = entry.get("encoder")
        return isinstance(encoder, Mapping) and "kind" in encoder

    def check(self, config: Written, name: str, entry: Mapping[str, Any]) -> str | None:
        """Check the entry's own keys, for inherited ones may be about tables of embeddings, and all its variants."""
        where, own = f"models.{name}", config.raw["models"][name]
        if wrong := next((key for key in OF_TABLES if key in own), None):
            instead = "; its training settings are in the block `transformer`" if wrong == "train" else ""
            raise ConfigError(f"{where}.{wrong}: is not for transformers{instead}; leave it out")
        if wrong := next((key for key in own.get("teacher", {}) if key not in OF_TEACHER), None):
            raise ConfigError(
                f"{where}.teacher.{wrong}: is not for transformers, which learn a teacher's vectors by "
                "their cosine; leave it out"
            )
        if own.get("development", {}).get("candidates"):
            raise ConfigError(
                f"{where}.development.candidates: is not for transformers, which retrieve held-out pairs only among "
                "one another; leave it out"
            )
        for key, does in (("lower_case", "lower-cases"), ("normalise", "normalises")):
            if own.get("filters", {}).get(key):
                raise ConfigError(
                    f"{where}.filters.{key}: a transformer's own tokenizer {does} text if its base needs that; leave "
                    "it out"
                )
        for variant, keys in entry.get("variants", {}).items():
            if wrong := next((key for key in keys or {} if key not in ("recipe", "seeds", "transformer")), None):
                raise ConfigError(
                    f"{where}.variants.{variant}.{wrong}: is not for transformers; write e.g. "
                    f"`{variant}: {{transformer: {{pooling: lstm}}}}`, or `{variant}: null` if it comes from a model "
                    "that this one extends"
                )
        return _base_of(entry["encoder"], where)

    def complete(
        self, config: Written, name: str, settings: dict[str, Any], entry: Mapping[str, Any], recipe: str
    ) -> dict[str, Any]:
        completed = {block: self.expected(block, base, recipe) for block, base in settings.items()}
        completed["transformer"] |= {key: entry["encoder"][key] for key in OF_ENCODER if key in entry["encoder"]}
        own = config.raw["models"][name].get("compare", {})
        completed["compare"] = systems.without_untrained(settings["compare"], own, f"models.{name}")
        return completed

    def expected(self, block: str, base: dict[str, Any], recipe: str) -> dict[str, Any]:
        own: dict[str, Mapping[str, Any]] = {
            "teacher": TEACHING,
            "filters": {"lower_case": False, "normalise": False},  # text as written
            # The keys that are written under `encoder`.
            "transformer": {key: TransformerSettings.default(key, recipe) for key in OF_ENCODER},
            "development": {"candidates": 0},  # embedding them would take longer than the training
        }
        return {} if block == "segment" else {**base, **own.get(block, {})}

    def of_recipe(self) -> list[str]:
        return [*TUNABLE]

    def check_training(self, config: Written, model: ModelEntry, searched: Mapping[str, Any]) -> None:
        where = f"models.{model.name}"
        for variant in model.variants.values():  # the schema knows their keys one by one
            try:
                TransformerSettings.of({key: value for key, value in variant.train.items() if key != "threads"})
            except ConfigError as error:
                place = where if variant.base else f"{where}.variants.{variant.name}"
                raise ConfigError(f"{place}.{error}") from None

    def inert(self, model: ModelEntry) -> tuple[str, ...]:
        return tuple(f"{block}." for block in OF_TABLES)

    def files(self, model: ModelEntry) -> list[str]:
        return list(TRANSFORMER_NAMES.values())

    def rule(self, model: ModelEntry) -> str:
        return "train_transformer"

    def refusal(self, model: ModelEntry) -> str:
        return (
            "is a transformer, which has model/, train/, eval.json, tasks/, compare.json, variants.json, data.json, "
            "stats.json, lexicon.tsv, card.md, report.html and release"
        )

    def absent(self, model: ModelEntry) -> str | None:
        if model.base is None or not _missing_base(model.base):
            return None
        where = f"models.{model.name}.encoder.base"
        return f"{model.base}: no such folder, but {where} names it; add it or correct its path"


def _base_of(encoder: Mapping[str, Any], where: str) -> str:
    """The base, with each ``${VARIABLE}`` and ``~`` replaced.

    Raises:
        ConfigError: it names a variable that is not set.
    """
    base = os.path.expandvars(str(encoder["base"]))
    if "${" in base:
        raise ConfigError(f"{where}.encoder.base: {base}: the variable is not set; set it, or write the path")
    return str(Path(base).expanduser()) if base.startswith("~") else base


def _missing_base(base: str) -> bool:
    """Whether a base can only be a folder, but does not exist."""
    return (base.startswith((".", "/")) or base.count("/") > 1) and "://" not in base and not Path(base).is_dir()
