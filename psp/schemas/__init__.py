"""Schemas of every JSON file that the project writes: JSON Schema (draft 2020-12), one YAML file each.

A schema is named as the stage is that writes the file, and describes each of its keys with type and unit. Schemas
refer to one another by file name (``eval.yaml#/$defs/body``).
"""

from __future__ import annotations

import functools
import logging
import math
import re
from collections.abc import Iterable, Iterator
from importlib import resources
from pathlib import Path, PurePath
from typing import Any

import jsonschema
import yaml
from jsonschema.exceptions import best_match
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from psp.errors import DataError

log = logging.getLogger(__name__)

#: Pattern of a path under results/ -> schema; the first that fits counts.
PLACES = {
    r"downloads/.+(?<!\.partial)\.json": "download",
    r"phrasebook/truth\.json": "truth",
    r"[^/]+/pairs/filter/[^/]+\.json": "filter",
    r"[^/]+/pairs/dedupe/[^/]+\.json": "dedupe",
    r"[^/]+/pairs/mix\.json": "mix",
    r"[^/]+/pairs/neardup\.json": "neardup",
    r"[^/]+/sentencepiece\.json": "sentencepiece",
    r"[^/]+/train/train\.json": "train",
    r"[^/]+/tune/[^/]+/train\.json": "train",
    r"[^/]+/tune\.json": "tune",
    r"[^/]+/variants/[^/]+/[0-9]+/train/train\.json": "train",
    r"[^/]+/variants/[^/]+/[0-9]+/model/config\.json": "model",
    r"[^/]+/variants/[^/]+/[0-9]+/eval\.json": "eval",
    r"[^/]+/variants\.json": "variants",
    r"[^/]+/model/config\.json": "model",
    r"[^/]+/data\.json": "data",
    r"[^/]+/eval\.json": "eval",
    r"[^/]+/compare\.json": "compare",
    r"[^/]+/quantized\.json": "quantized",
    r"[^/]+/speed\.json": "speed",
}


def names() -> list[str]:
    """The names of all schemas."""
    return sorted(_all())


def load(name: str) -> dict[str, Any]:
    """The schema of that name, as it is in its file; not to be changed.

    Raises:
        ValueError: there is none.
    """
    if name not in _all():
        raise ValueError(f"there is no schema {name!r}; there are {', '.join(names())}")
    return _all()[name]


def at(path: PurePath | str) -> str | None:
    """The name of the schema for a path under results/, such as ``fr/eval.json``; None where there is none."""
    place = PurePath(path).as_posix()
    return next((name for pattern, name in PLACES.items() if re.fullmatch(pattern, place)), None)


def check(value: Any, name: str, path: Path | str | None = None) -> None:
    """Make sure that a JSON value is as its schema says; numbers must be finite.

    Args:
        value: as the json module reads it.
        name: of the schema.
        path: the file, for the error.

    Raises:
        DataError: it is not; the key is named.
        ValueError: there is no such schema.
    """
    if (problem := _problem(value, name)) is not None:
        raise DataError(f"{problem} (schema {name}); it was changed, or another psp wrote it: make it again", path)


def check_written(value: Any, name: str, path: Path | str) -> None:
    """The same for what was just written: an error in the log, since what took hours to find is not lost for it."""
    if (problem := _problem(value, name)) is not None:
        log.error("%s: is whole, but not as its schema %s says, a mistake of psp: %s", path, name, problem)


def _problem(value: Any, name: str) -> str | None:
    problem = next(_not_finite(value), None)
    if problem is None and (error := best_match(_validator(name).iter_errors(value))) is not None:
        return _say(error)
    return problem


@functools.cache
def _all() -> dict[str, dict[str, Any]]:
    files = [file for file in resources.files(__name__).iterdir() if file.name.endswith(".yaml")]
    return {file.name.removesuffix(".yaml"): yaml.safe_load(file.read_text(encoding="utf-8")) for file in files}


@functools.cache
def _validator(name: str) -> jsonschema.Draft202012Validator:
    registry: Registry[Any] = Registry().with_resources(
        (f"{other}.yaml", DRAFT202012.create_resource(schema)) for other, schema in _all().items()
    )
    return jsonschema.Draft202012Validator(load(name), registry=registry)


def _not_finite(value: Any, place: tuple[str, ...] = ()) -> Iterator[str]:
    """Where NaN and infinities stand: JSON has none, but Python's json module reads them, and no range excludes NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{_join(place)}: is {value}, not a finite number"
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        yield from _not_finite(below, (*place, str(key)))


def _say(error: jsonschema.ValidationError) -> str:
    place = _join(error.absolute_path)
    if error.validator == "type":
        types = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        return f"{place}: is {error.instance!r:.80}, not {' or '.join(map(str, types))}"
    if len(error.message) < 200:  # it quotes the value, however long
        return f"{place}: {error.message}"
    return f"{place}: breaks {error.validator}: {error.validator_value!r:.100}"


def _join(place: Iterable[str | int]) -> str:
    return ".".join(map(str, place)) or "the whole"
