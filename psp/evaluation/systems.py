"""Which systems a model is compared with: the block ``compare`` of the config; :mod:`psp.evaluation.system` runs them.

A system is a name and an encoder: one of the baselines, which :mod:`psp.evaluation.baselines` describes, or any that
:func:`psp.models.registry.load_encoder` loads.
"""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.core.errors import ConfigError

UNTRAINED, UNTRAINED_SIF, WORD_OVERLAP = BASELINES = ("untrained", "untrained+sif", "word-overlap")
#: The model itself, in compare.json.
TRAINED = "trained"


def named(items: Sequence[str | Mapping[str, str]], place: str = "compare.systems") -> dict[str, str]:
    """Resolve the config's list of systems: the encoder of each by its name; ``~/`` and ``${VARIABLE}`` are expanded.

    A name that is not given is the last part of the encoder's: ``results/multi/model`` is called ``multi``, and
    ``sentence-transformers:intfloat/multilingual-e5-small`` is called ``multilingual-e5-small``.

    Raises:
        ConfigError: two systems have one name, or a name cannot be one of a folder.
    """
    from psp.config.blocks.fields import NAME  # with pydantic, which who shows results does without

    encoders: dict[str, str] = {}
    for item in items:
        encoder = _expanded(item if isinstance(item, str) else item["encoder"])
        name = _name(encoder) if isinstance(item, str) else item["name"]
        if encoder not in BASELINES and not re.fullmatch(NAME, name):
            raise ConfigError(f"{place}: {encoder} needs a name; write {{name: ..., encoder: {encoder!r}}}")
        if name in encoders:
            raise ConfigError(
                f"{place}: {encoders[name]} and {encoder} are both called {name}; "
                f"write {{name: ..., encoder: {encoder!r}}}"
            )
        if name == TRAINED:
            raise ConfigError(f"{place}: {TRAINED} is the model itself; give {encoder} another name")
        encoders[name] = encoder
    return encoders


def check(compare: Mapping[str, Any], tasks: Collection[str], where: str) -> None:
    """Check the block ``compare`` of a model.

    Raises:
        ConfigError: as :func:`named`; or it names a task that the model does not have.
    """
    named(compare["systems"], f"{where}.compare.systems")
    for task in compare["tasks"]:
        if task not in tasks:
            raise ConfigError(
                f"{where}.compare.tasks: {task} is not one of evaluate.tasks; there are {', '.join(tasks) or 'none'}"
            )


def without_untrained(compare: Mapping[str, Any], written: Mapping[str, Any], where: str) -> dict[str, Any]:
    """The block ``compare`` of a model that is not one table of subwords: without the untrained baselines, which are.

    Args:
        compare: the resolved block.
        written: the entry's own block.
        where: the model's location in the config, for errors.

    Raises:
        ConfigError: the entry itself requests one.
    """
    known = named(compare["systems"], f"{where}.compare.systems")
    untrained = [encoder for encoder in known.values() if encoder in (UNTRAINED, UNTRAINED_SIF)]
    if untrained and "systems" in written:
        raise ConfigError(
            f"{where}.compare.systems: {untrained[0]} has the subwords of one model, which this one does not have; "
            "leave it out here"
        )
    kept = [{"name": key, "encoder": encoder} for key, encoder in known.items() if encoder not in untrained]
    return {**compare, "systems": [one["name"] if one["name"] == one["encoder"] else one for one in kept]}


def _expanded(encoder: str) -> str:
    prefix, place = _split(encoder)
    return prefix + os.path.expanduser(os.path.expandvars(place))  # noqa: PTH111  (a name on a hub is no path)


def _name(encoder: str) -> str:
    if encoder in BASELINES:
        return encoder
    path = Path(_split(encoder)[1])
    return path.parent.name if path.name == "model" else path.name


def _split(encoder: str) -> tuple[str, str]:
    from psp.config.blocks.evaluation import MODEL2VEC, SENTENCE_TRANSFORMERS

    for prefix in (SENTENCE_TRANSFORMERS, MODEL2VEC):
        if encoder.startswith(prefix):
            return prefix, encoder.removeprefix(prefix)
    return "", encoder
