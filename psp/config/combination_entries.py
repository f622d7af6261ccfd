"""Entries of models that join others: ``encoder: {concat: [...], weights: [...]}``.

The others are trained apart. With ``joint: true``, which ``add`` needs, a new model is trained instead, whose parts
have their vocabularies and encoders, on the corpora of the first, filtered as for the first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from psp.config.blocks.overlay import merge
from psp.config.blocks.training import JOINT, OF_PART
from psp.config.model import EntryKind, ModelEntry
from psp.config.trained_entries import with_paths
from psp.config.written import Written
from psp.core.errors import ConfigError, closest
from psp.evaluation import systems
from psp.models import combination_files

#: Blocks that an entry of a combination may have.
BLOCKS = ("evaluate", "compare", "quantize", "speed", "report")
#: Keys of the block ``train`` that a joint model cannot have: each part takes the first ones from its own entry.
OF_MODELS = (*OF_PART, "init_from")
OF_ONE = (*OF_MODELS, "init_vectors", "init_encoder", "settings_from")
#: Settings that no part of a joint model may have: block and key, and why.
OF_NO_PART = (
    ("train", "init_vectors", "starts from word vectors, which a part of a joint model cannot"),
    ("train", "init_encoder", "starts from an encoder's vectors of its pieces, which a part of a joint model cannot"),
    ("teacher", "encoder", "has a teacher, which models trained together cannot have"),
)


class CombinationEntry(EntryKind):
    """Models that were trained apart, whose vectors are joined."""

    called = "a combination of models"
    block: str | None = None
    joins = True
    stores = False
    there_is = re.compile(
        r"(model/|systems/|tasks/)|(eval|compare|quantized|speed|examples)\.json$|eval\.safetensors$"
        r"|card\.md$|speed\.png$|report\.html$"
    )

    def fits(self, entry: Mapping[str, Any]) -> bool:
        return _is_combination(entry) and entry["encoder"].get("joint", False) == self.stores

    def resolve(self, config: Written, name: str, entry: Mapping[str, Any]) -> ModelEntry:
        """Resolve a combination, which is evaluated like its first model unless its own entry says otherwise.

        Raises:
            ConfigError: a part does not exist or is a combination itself, the weights do not fit, or the entry has a
                key about training.
        """
        models = config.raw["models"]
        where, own, joint = f"models.{name}", entry["encoder"], self.stores
        if ("concat" in own) == ("add" in own):
            what = "names models to join and models to add" if "add" in own else "names no models"
            raise ConfigError(f"{where}.encoder: {what}; write e.g. `encoder: {{concat: [en, en-trigrams]}}`")
        how = "add" if "add" in own else "concat"
        names, weights = own[how], own.get("weights", [1] * len(own[how]))
        if how == "add" and not joint:
            raise ConfigError(
                f"{where}.encoder.add: vectors of models trained apart share no space, so their sum is meaningless; "
                f"write `concat: [{', '.join(names)}]`, which joins them, or `joint: true`, which trains them together"
            )
        trains = ("train", "seed") if joint else ()
        if wrong := [key for key in entry if key not in ("encoder", "languages", *trains, *BLOCKS)]:
            inherited = ", and `extends`" if "extends" in models[name] else ""
            does = "is trained on the pairs of its first model" if joint else "trains nothing of its own"
            raise ConfigError(f"{where}.{wrong[0]}: a combination of models {does}; leave it out{inherited}")
        others = [other for other in models if other != name]
        for part in names:
            if part not in models:
                raise ConfigError(f"{where}.encoder.{how}: {part} is not a model of the config{closest(part, others)}")
            if _is_combination(config.entry(part)):
                raise ConfigError(f"{where}.encoder.{how}: {part} is a combination itself; name its models instead")
        if len(weights) != len(names):
            raise ConfigError(f"{where}.encoder.weights: {len(weights)} for {len(names)} models; give one for each")
        scaled = own.get("scaled", how == "concat")
        if "scaled" in own and not (joint and how == "concat"):
            raise ConfigError(f"{where}.encoder.scaled: is for models concatenated with `joint: true`; leave it out")
        if "weights" in own and not scaled:
            raise ConfigError(f"{where}.encoder.weights: are for vectors scaled to length 1; leave them out")
        parts = [config.model(part) for part in names]
        if other := next((part for part in parts if not part.of.stores), None):
            raise ConfigError(
                f"{where}.encoder.{how}: {other.name} is {other.of.called}, which a combination cannot hold; leave it "
                "out"
            )
        languages = dict.fromkeys(code for part in parts for code in part.languages)
        if refused := [key for key in entry.get("train", {}) if key in OF_ONE]:
            why = "each model's own entry sets it for its part" if refused[0] in OF_MODELS else "not for joint models"
            raise ConfigError(f"{where}.train.{refused[0]}: {why}; leave it out")
        return ModelEntry(
            of=self,
            name=name,
            languages=tuple(entry.get("languages", languages)),
            parts=parts[0].parts if joint else (),
            recipe=parts[0].recipe,
            seed=entry.get("seed", parts[0].seed),
            settings=_settings(parts[0].settings, entry, where),
            differences={},
            tuned={},
            variants={},
            encoder=how,
            combined=tuple(zip(names, map(float, weights), strict=True)),
            joint=_together(parts, how, weights, scaled, where) if joint else None,
        )

    def files(self, model: ModelEntry) -> list[str]:
        return combination_files([])  # beside these it has the tokenizers' files of its parts

    def rule(self, model: ModelEntry) -> str:
        return "combine"

    def refusal(self, model: ModelEntry) -> str:
        return (
            f"joins {' and '.join(part for part, _ in model.combined)}, and has only model/, eval.json, tasks/, "
            "compare.json, quantized.json, speed.json, card.md and report.html; ask for the same file of one of "
            "those"
        )


class JointEntry(CombinationEntry):
    """Encoders that are trained together, on the corpora of the first."""

    called = "a joint model"
    block = "train"
    stores = True
    there_is = re.compile(rf"{CombinationEntry.there_is.pattern}|train/|pairs/|store\.h5$|data\.|stats\.")

    def rule(self, model: ModelEntry) -> str:
        return "train_joint"


def _is_combination(entry: Mapping[str, Any]) -> bool:
    encoder = entry.get("encoder")
    return isinstance(encoder, Mapping) and "kind" not in encoder


def _together(
    parts: Sequence[ModelEntry], how: str, weights: Sequence[float], scaled: bool, where: str
) -> dict[str, Any]:
    """The encoder of parts that are trained together, as :class:`psp.training.loop.Training` takes it.

    Raises:
        ConfigError: they cannot be.
    """
    for part in parts:
        for block, key, why in OF_NO_PART:
            if part[block][key] is not None:
                raise ConfigError(
                    f"{where}.encoder: {part.name} {why}; name another model, or write `{block}: {{{key}: null}}` in "
                    f"the entry of {part.name}"
                )
    first, *others = (
        {
            "filters.lower_case": part["filters"]["lower_case"],
            "filters.normalise": part["filters"]["normalise"],
            "segment": part["segment"],
        }
        for part in parts
    )
    for part, reading in zip(parts[1:], others, strict=True):
        if differing := [key for key in first if reading[key] != first[key]]:
            raise ConfigError(
                f"{where}.encoder: {part.name} and {parts[0].name} differ in {differing[0]}, but encoders trained "
                "together read the same text"
            )
    dims = [vector_dim(part) for part in parts]
    if how == "add" and len(set(dims)) > 1:
        sizes = ", ".join(f"{part.name} {dim}" for part, dim in zip(parts, dims, strict=True))
        raise ConfigError(f"{where}.encoder.add: vectors of different dimensions ({sizes}) have no sum")
    return {
        "kind": JOINT,
        "join": how,
        "scaled": scaled,
        "weights": [float(weight) for weight in weights],
        "parts": [
            {"encoder": part.contextual or {"kind": "mean"}, **{key: part["train"][key] for key in OF_MODELS}}
            for part in parts
        ],
    }


def vector_dim(part: ModelEntry) -> int:
    """The number of dimensions of a model's vectors."""
    dim = int(part["train"]["dim"])
    if part.contextual is None:
        return dim
    from psp.models import lstm

    return lstm.dim_of(part.encoder, part.contextual["width"] or dim, part.contextual["combine"])


def _settings(first: Mapping[str, Any], entry: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The blocks of the first part, overridden by the combination's own; each part keeps its own start."""
    settings = {**first, **{block: merge(first[block], entry.get(block, {})) for block in (*BLOCKS, "train")}}
    settings["train"] |= {"init_from": None, "init_vectors": None, "init_encoder": None, "settings_from": None}
    settings["compare"] = systems.without_untrained(settings["compare"], entry.get("compare", {}), where)
    systems.check(settings["compare"], settings["evaluate"]["tasks"], where)
    return with_paths(settings)
