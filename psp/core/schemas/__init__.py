"""JSON Schemas (draft 2020-12) for every JSON file that the project writes, one YAML file each.

A schema is named after the stage that writes the file, and describes each key with type and unit. Schemas refer to one
another by file name (``eval.yaml#/$defs/body``). ``settings.yaml`` describes no file: it holds what reports say about
settings, and is generated from their declarations (:mod:`psp.config.pages`). ``transformer.yaml`` is a part of
``train.yaml``.
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

from psp.core.errors import DataError
from psp.core.settings import match_whole

log = logging.getLogger(__name__)

#: Path pattern under results/ -> schema; the first match wins.
PLACES = {
    r"downloads/.+(?<!\.partial)\.json": "download",
    r"phrasebook/truth\.json": "truth",
    r"translators/[^/]+/translator\.json": "translator",
    r"translators/[^/]+/pairs/heldout\.json": "translator_heldout",
    r"translators/[^/]+/model/config\.json": "translator_model",
    r"(translators/)?[^/]+/pairs/filter/[^/]+\.json": "filter",
    r"[^/]+/pairs/pivot/[^/]+/[^/]+\.json": "filter",
    r"[^/]+/pairs/pivot/[^/]+\.json": "pivot",
    r"[^/]+/pairs/backtranslate/[^/]+/[^/]+\.json": "filter",
    r"[^/]+/pairs/backtranslate/[^/]+\.json": "backtranslate",
    r"(translators/)?[^/]+/pairs/rank/[^/]+\.json": "rank",
    r"(translators/)?[^/]+/pairs/dedupe/[^/]+\.json": "dedupe",
    r"(translators/)?[^/]+/pairs/mix\.json": "mix",
    r"[^/]+/pairs/neardup\.json": "neardup",
    r"[^/]+/pairs/development\.json": "development",
    r"(translators/)?[^/]+/sentencepiece\.json": "sentencepiece",
    r"[^/]+/vocabulary\.json": "vocabulary",
    r"[^/]+/teacher\.json": "teacher",
    r"[^/]+/train/train\.json": "train",
    r"[^/]+/tune/[^/]+/train\.json": "train",
    r"[^/]+/tune\.json": "tune",
    r"[^/]+/samples/[^/]+\.json": "vocabulary",
    r"[^/]+/samples/tenths/[^/]+\.json": "sample",
    r"[^/]+/samples/[^/]+/[^/]+/[^/]+/[0-9]+/train\.json": "train",
    r"[^/]+/tenths\.json": "tenths",
    r"[^/]+/by_corpus\.json": "by_corpus",
    r"[^/]+/variants/[^/]+/[0-9]+/train/train\.json": "train",
    r"[^/]+/variants/[^/]+/[0-9]+/model/config\.json": "model",
    r"[^/]+/variants/[^/]+/[0-9]+/eval\.json": "eval",
    r"[^/]+/variants\.json": "variants",
    r"[^/]+/model/config\.json": "model",
    r"[^/]+/data\.json": "data",
    r"[^/]+/inspect\.json": "inspect",
    r"[^/]+/stats\.json": "stats",
    r"[^/]+/lexicon\.json": "lexicon",
    r"[^/]+/eval\.json": "eval",
    r"[^/]+/systems/[^/]+/eval\.json": "eval",
    r"[^/]+/(systems/[^/]+/)?tasks/[^/]+\.json": "task",
    r"[^/]+/compare\.json": "compare",
    r"[^/]+/quantized\.json": "quantized",
    r"[^/]+/speed\.json": "speed",
    r"[^/]+/examples\.json": "examples",
}


def names() -> list[str]:
    """Return the names of all schemas."""
    return sorted(set(PLACES.values()))


def load(name: str) -> dict[str, Any]:
    """Return a schema as in its file; do not modify it.

    Raises:
        ValueError: there is no such schema.
    """
    if name not in _all():
        raise ValueError(f"no schema {name!r}; available: {', '.join(names())}")
    return _all()[name]


def at(path: PurePath | str) -> str | None:
    """Return the name of the schema for a path under results/, such as ``fr/eval.json``; None if there is none."""
    place = PurePath(path).as_posix()
    return next((name for pattern, name in PLACES.items() if re.fullmatch(pattern, place)), None)


def check(value: Any, name: str, path: Path | str | None = None) -> None:
    """Validate a JSON value against its schema; numbers must be finite.

    Args:
        value: as the json module reads it.
        name: name of the schema.
        path: the file, for the error.

    Raises:
        DataError: it is invalid; the key is named.
        ValueError: there is no such schema.
    """
    if (problem := _problem(value, name)) is not None:
        raise DataError(
            f"{problem} (schema {name}); it was edited or written by another version of psp: make it again", path
        )


def check_written(value: Any, name: str, path: Path | str) -> None:
    """Validate what was just written, but only log an error: results that took hours must not be lost over it."""
    if (problem := _problem(value, name)) is not None:
        log.error("%s: written completely but does not match schema %s, a bug in psp: %s", path, name, problem)


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
    whole = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": match_whole})
    return whole(load(name), registry=registry)


def _not_finite(value: Any, place: tuple[str, ...] = ()) -> Iterator[str]:
    """Find NaN and infinities: Python's json module accepts them, and no range in a schema excludes NaN."""
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
    return f"{place}: violates {error.validator}: {error.validator_value!r:.100}"


def _join(place: Iterable[str | int]) -> str:
    return ".".join(map(str, place)) or "the whole"
