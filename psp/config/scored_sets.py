"""The sets that a model is scored on, and those that choose it: their files, and which training must not hold.

Sets are arguments of :func:`psp.evaluation.scored.scored`; a rule has them as a param, and their files as input.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.config.config import Config
from psp.config.corpus_entries import CorpusSpec
from psp.config.downloads import FOLDER as DOWNLOADS
from psp.config.model import ModelEntry
from psp.core.errors import ConfigError


def tatoeba(config: Config, model: ModelEntry) -> dict[str, list[str]]:
    """The two files of each language's Tatoeba set."""
    sets = config.tatoeba(model)
    return {language: [f"{DOWNLOADS}/{file}" for file in pair] for language, pair in sets.items()}


def test_files(config: Config, model: ModelEntry) -> dict[str, Any]:
    """The files of the sets that every model is scored on: ``sts``, if there is one, ``tatoeba`` and ``files``."""
    archive = config.sts_tests(model)
    return {
        **({"sts": f"{DOWNLOADS}/{archive}"} if archive else {}),
        "tatoeba": [file for pair in tatoeba(config, model).values() for file in pair],
        "files": list(model["evaluate"]["files"].values()),
    }


def _evaluated(config: Config, model: ModelEntry) -> dict[str, Any]:
    """The sets on which a model is evaluated."""
    archive = config.sts_tests(model)
    return {
        "sts": f"{DOWNLOADS}/{archive}" if archive else None,
        "tatoeba": tatoeba(config, model),
        "files": model["evaluate"]["files"],
        "tasks": model["evaluate"]["tasks"],
    }


def kept_out(config: Config, model: ModelEntry, part: CorpusSpec) -> dict[str, Any]:
    """The sets whose sentences are kept out of a corpus of a model; empty if none are."""
    settings = part.filters["decontaminate"]
    if not settings["enabled"]:
        return {}
    sets = {key: value for key, value in _evaluated(config, model).items() if key in settings["sets"]}
    if "development" in settings["sets"]:
        archive, chosen = config.sts_development(model), model["development"]
        sets["development"], sets["judged"] = chosen["sts"], chosen["sets"]
        sets["archive"] = f"{DOWNLOADS}/{archive}" if archive else None
    return {"languages": model.languages, **sets}


def kept_clear_of(config: Config, model: ModelEntry) -> dict[str, Any]:
    """The sets whose sentences a development set must not hold; tasks only if training must not hold theirs, too."""
    sets = _evaluated(config, model)
    if "tasks" not in model["filters"]["decontaminate"]["sets"]:
        del sets["tasks"]
    # A file may be both, for its figures in eval.json.
    own = model["development"]["sts"]
    sets["files"] = {name: file for name, file in sets["files"].items() if file != own}
    return {"languages": model.languages, **sets}


def files(config: Config, model: ModelEntry, sets: Mapping[str, Any]) -> list[str]:
    """The files of some of a model's sets, sorted."""
    found = [sets.get("sts"), sets.get("archive") or sets.get("development"), *sets.get("files", {}).values()]
    found += [file for pair in sets.get("tatoeba", {}).values() for file in pair]
    for name in sets.get("tasks", {}):
        found += map(str, config.task(model.name, name, DOWNLOADS).files())
    for name in sets.get("judged", {}):
        found += judged_files(model, name)
    return sorted(set(filter(None, found)))


def judged_set(model: ModelEntry, name: str) -> Mapping[str, Any]:
    """The entry of a further development set.

    Raises:
        ConfigError: the model has no such set.
    """
    known: Mapping[str, Any] = model["development"]["sets"]
    if name not in known:
        raise ConfigError(
            f"models.{model.name}.development.sets: {name} is not one of them; there are "
            f"{', '.join(known) or 'none in its languages'}"
        )
    own: Mapping[str, Any] = known[name]
    return own


def judged_files(model: ModelEntry, name: str) -> list[str]:
    """The files of a further development set."""
    from psp.evaluation import judged

    return [str(file) for file in judged.files(judged_set(model, name), f"models.{model.name}.development.sets.{name}")]
