"""Entries of models that join others: ``encoder: {concat: [...], weights: [...]}``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from psp.config.corpus_entries import closest
from psp.config.model import Model
from psp.config.overlay import merge
from psp.core.errors import ConfigError
from psp.evaluation import systems

#: Blocks that such an entry may have.
BLOCKS = ("evaluate", "compare", "quantize")


def resolve(
    name: str,
    entry: Mapping[str, Any],
    *,
    models: Mapping[str, Mapping[str, Any]],
    model: Callable[[str], Model],
    path: Callable[[Any], Any],
) -> Model:
    """Resolve a combination, which is evaluated as its first model is, unless its own entry says otherwise.

    Args:
        name, entry: the model, and its entry with what it extends.
        models: all entries, by name.
        model: resolves a model by its name.
        path: resolves a path of the config.

    Raises:
        ConfigError: a part does not exist or is a combination itself, the weights do not fit, or the entry has a key
            that is about training.
    """
    where, own = f"models.{name}", entry["encoder"]
    if "add" in own:
        raise ConfigError(
            f"{where}.encoder.add: vectors of models that were trained apart share no space, so a sum says nothing; "
            f"write `concat: [{', '.join(map(str, own['add']))}]`, which joins them"
        )
    if "concat" not in own:
        raise ConfigError(f"{where}.encoder: names no models; write e.g. `encoder: {{concat: [en, en-trigrams]}}`")
    if wrong := [key for key in entry if key not in ("encoder", "languages", *BLOCKS)]:
        inherited = ", and `extends`" if "extends" in models[name] else ""
        raise ConfigError(
            f"{where}.{wrong[0]}: a combination of models trains nothing of its own; leave it out{inherited}"
        )
    for part in own["concat"]:
        if part not in models:
            raise ConfigError(f"{where}.encoder.concat: {part} is not a model of the config{closest(part, models)}")
        if isinstance(models[part].get("encoder"), Mapping):
            raise ConfigError(f"{where}.encoder.concat: {part} is a combination itself; name its models instead")
    weights = own.get("weights", [1] * len(own["concat"]))
    if len(weights) != len(own["concat"]):
        raise ConfigError(f"{where}.encoder.weights: {len(weights)} for {len(own['concat'])} models; give one for each")
    parts = [model(part) for part in own["concat"]]
    languages = dict.fromkeys(code for part in parts for code in part.languages)
    return Model(
        name=name,
        languages=tuple(entry.get("languages", languages)),
        parts=(),
        recipe=parts[0].recipe,
        seed=parts[0].seed,
        settings=_settings(parts[0].settings, entry, where, path),
        differences={},
        tuned={},
        variants={},
        encoder="concat",
        combined=tuple(zip(own["concat"], map(float, weights), strict=True)),
    )


def _settings(
    first: Mapping[str, Any], entry: Mapping[str, Any], where: str, path: Callable[[Any], Any]
) -> dict[str, Any]:
    """The blocks: those of the first part, with the combination's own on top."""
    settings = {**first, **{block: merge(first[block], entry.get(block, {})) for block in BLOCKS}}
    if entry.get("evaluate", {}).get("tasks"):
        raise ConfigError(f"{where}.evaluate.tasks: combinations have no tasks yet; use `psp eval MODEL --tasks`")
    files = settings["evaluate"]["files"]
    settings["evaluate"] |= {"files": {key: path(file) for key, file in files.items()}, "tasks": {}}
    # Untrained baselines have the subwords of one model.
    of_one = (systems.UNTRAINED, systems.UNTRAINED_SIF)
    known = systems.named(settings["compare"]["systems"], f"{where}.compare.systems")
    wrong = [encoder for encoder in known.values() if encoder in of_one]
    if wrong and "compare" in entry:
        raise ConfigError(f"{where}.compare.systems: {wrong[0]} has the subwords of one model; leave it out here")
    kept = [{"name": key, "encoder": encoder} for key, encoder in known.items() if encoder not in of_one]
    settings["compare"] = {"systems": [one["name"] if one["name"] == one["encoder"] else one for one in kept]}
    return settings
