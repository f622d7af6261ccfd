"""The JSON files that psp writes: their types, and JSON Schemas (draft 2020-12) generated from these.

Each file has a type in a module beside this one, which describes each key with its unit and limits; a schema is named
after the stage that writes the file.
"""

from __future__ import annotations

import functools
import logging
import math
import re
from collections.abc import Iterable, Iterator
from pathlib import Path, PurePath
from typing import Any, get_args, get_type_hints, is_typeddict

import msgspec

from psp.core.errors import DataError
from psp.core.json_schema import Draft202012Validator, ValidationError, best_match, extend
from psp.core.schemas import (
    corpora,
    data,
    evaluation,
    inspect,
    models,
    pairs,
    scores,
    speed,
    stats,
    training,
    translator,
)
from psp.core.schemas.types import KEYWORDS
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
    r"[^/]+/pairs/development(/[^/]+)?\.json": "development",
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


#: Schema -> type of the file.
TYPES: dict[str, type] = {
    "backtranslate": pairs.BacktranslateReport,
    "by_corpus": training.ByCorpusReport,
    "compare": evaluation.Comparison,
    "data": data.DataReport,
    "dedupe": pairs.DedupeReport,
    "development": evaluation.DevelopmentReport,
    "download": corpora.Download,
    "eval": evaluation.Evaluation,
    "examples": evaluation.Examples,
    "filter": pairs.FilterReport,
    "inspect": inspect.InspectReport,
    "lexicon": evaluation.LexiconReport,
    "mix": pairs.MixReport,
    "model": models.ModelConfig,
    "neardup": pairs.NeardupReport,
    "pivot": pairs.PivotReport,
    "quantized": evaluation.QuantizedReport,
    "rank": pairs.RankReport,
    "sample": pairs.SampleReport,
    "sentencepiece": pairs.SentencepieceReport,
    "speed": speed.SpeedReport,
    "stats": stats.StatsReport,
    "task": scores.TaskScores,
    "teacher": training.TeacherReport,
    "tenths": training.DecilesReport,
    "train": training.TrainJson,
    "translator": translator.TranslatorReport,
    "translator_heldout": translator.HeldOutReport,
    "translator_model": translator.TranslatorConfig,
    "truth": corpora.Truth,
    "tune": training.TuneReport,
    "variants": evaluation.VariantsReport,
    "vocabulary": pairs.VocabularyReport,
}


def names() -> list[str]:
    """Return the names of all schemas."""
    return sorted(TYPES)


@functools.cache
def load(name: str) -> dict[str, Any]:
    """Return the schema of a file; do not modify it.

    Raises:
        ValueError: there is no such schema.
    """
    if name not in TYPES:
        raise ValueError(f"no schema {name!r}; available: {', '.join(names())}")
    every = _definitions()
    whole = every[TYPES[name].__name__]
    used: dict[str, Any] = {}
    waiting = list(_referred(whole))
    while waiting:
        if (kind := waiting.pop()) not in used:
            used[kind] = every[kind]
            waiting += _referred(every[kind])
    dialect = {"$schema": "https://json-schema.org/draft/2020-12/schema"}
    return {**dialect, **whole, "title": name, **({"$defs": used} if used else {})}


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
    """Validate a file just written, but only log an error, so as not to lose results that took hours."""
    if (problem := _problem(value, name)) is not None:
        log.error("%s: written completely but does not match schema %s, a bug in psp: %s", path, name, problem)


def _problem(value: Any, name: str) -> str | None:
    problem = next(_not_finite(value), None)
    if problem is None and (error := best_match(_validator(name).iter_errors(value))) is not None:
        return _say(error)
    return problem


@functools.cache
def _definitions() -> dict[str, dict[str, Any]]:
    """The schema of each type, by its name."""
    modules = (corpora, data, evaluation, inspect, models, pairs, scores, speed, stats, training, translator)
    kinds = {kind.__name__: kind for module in modules for kind in vars(module).values() if is_typeddict(kind)}
    _, components = msgspec.json.schema_components(kinds.values(), ref_template="#/$defs/{name}")
    for name, schema in components.items():
        for key, hint in get_type_hints(kinds[name], include_extras=True).items():
            if texts := list(_descriptions(hint)):
                schema["properties"][key]["description"] = texts[-1]
        schema.setdefault("additionalProperties", False)
        schema.update(KEYWORDS.get(name, {}))
    return {name: _with_null(schema) for name, schema in components.items()}


def _descriptions(hint: Any) -> Iterator[str]:
    """The texts in an annotation, the type's own first."""
    inside, *metadata = get_args(hint) or (None,)
    if hasattr(hint, "__metadata__"):
        yield from _descriptions(inside)
        yield from (one for one in hint.__metadata__ if isinstance(one, str))
    elif not metadata and inside is not None:  # Required, NotRequired
        yield from _descriptions(inside)


def _with_null(node: Any) -> Any:
    """Write ``type: [integer, "null"]`` for a choice of that and null, which makes a better message."""
    if isinstance(node, list):
        return [_with_null(below) for below in node]
    if not isinstance(node, dict):
        return node
    node = {key: _with_null(below) for key, below in node.items()}
    match node.get("anyOf"):
        case [{"type": str() as kind, **keywords}, {"type": "null"}] if "enum" not in keywords:
            del node["anyOf"]
            return {**keywords, **node, "type": [kind, "null"]}
    return node


def _referred(node: Any) -> Iterator[str]:
    """The names of the types that a schema refers to."""
    if isinstance(node, dict) and isinstance(ref := node.get("$ref"), str):
        yield ref.rpartition("/")[2]
    for below in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _referred(below)


@functools.cache
def _validator(name: str) -> Draft202012Validator:
    whole = extend(Draft202012Validator, {"pattern": match_whole})
    return whole(load(name))


def _not_finite(value: Any, place: tuple[str, ...] = ()) -> Iterator[str]:
    """Find NaN and infinities: Python's json module accepts them, and no range in a schema excludes NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{_join(place)}: is {value}, not a finite number"
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, below in inside:
        yield from _not_finite(below, (*place, str(key)))


def _say(error: ValidationError) -> str:
    place = _join(error.absolute_path)
    if error.validator == "type":
        types = error.validator_value if isinstance(error.validator_value, list) else [error.validator_value]
        return f"{place}: is {error.instance!r:.80}, not {' or '.join(map(str, types))}"
    if len(error.message) < 200:  # it quotes the value, however long
        return f"{place}: {error.message}"
    return f"{place}: violates {error.validator}: {error.validator_value!r:.100}"


def _join(place: Iterable[str | int]) -> str:
    return ".".join(map(str, place)) or "the whole"
