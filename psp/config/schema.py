"""Apply the config's schema: defaults by recipe, differences from them, and one-line errors."""

from __future__ import annotations

import copy
import difflib
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import yaml

from psp.config.overlay import merge
from psp.core.errors import ConfigError, closest
from psp.core.json_schema import Draft202012Validator, ValidationError, extend
from psp.core.settings import NAME, match_whole
from psp.text.languages import CODE, wrong_code


def resolve(node: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Follow a $ref; keys beside it take precedence."""
    result = dict(node)
    while "$ref" in result:
        target: Any = schema
        for step in result.pop("$ref").removeprefix("#/").split("/"):
            target = target[step]
        result = {**target, **result}
    return result


def defaults(node: Mapping[str, Any], schema: Mapping[str, Any], recipe: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """The default values of a block; ``own`` gives the entries of tables with free keys."""
    node = resolve(node, schema)
    values: dict[str, Any] = {}
    for key, child in node.get("properties", {}).items():
        child = resolve(child, schema)
        if recipe in child.get("recipes", {}):
            values[key] = copy.deepcopy(child["recipes"][recipe])
        elif "default" in child:
            values[key] = copy.deepcopy(child["default"])
        elif "properties" in child:
            values[key] = defaults(child, schema, recipe, own.get(key, {}))
    entries = node.get("additionalProperties")
    if isinstance(entries, Mapping) and "properties" in resolve(entries, schema):
        for key, value in merge(node.get("default", {}), own).items():
            given = node.get("default", {}).get(key, {})
            values[key] = merge(defaults(entries, schema, recipe, value), given)
    return values


def differences(base: Any, value: Any, key: str) -> dict[str, Any]:
    """Dotted keys below ``key`` whose values differ from ``base``, with those values."""
    if isinstance(base, Mapping) and isinstance(value, Mapping) and set(base) <= set(value):
        changed: dict[str, Any] = {}
        for name in value:
            changed |= differences(base.get(name), value[name], f"{key}.{name}")
        return changed
    return {} if base == value else {key: value}


#: Further wrong keys that are named.
MOST = 8

# JSON Schema accepts 6.0 as an integer; code that expects an int would fail hours later.
_Validator = extend(
    Draft202012Validator,
    {"pattern": match_whole},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    ),
)


def check(raw: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Check a config against the schema.

    Raises:
        ConfigError: it violates the schema; one line names the first wrong key, what is allowed and what to write, and
            the other wrong keys.
    """
    if problem := next(_not_yaml(raw, ()), None):
        raise ConfigError(f"config: {problem}")
    errors = sorted(
        _Validator(schema).iter_errors(raw), key=lambda error: (len(error.absolute_path), str(error.absolute_path))
    )
    if errors:
        first, *others = [key for error in errors for key in _wrong(error)]
        further = [key for key in dict.fromkeys(others) if key != first]
        more = f" (and {len(further) - MOST} more)" if len(further) > MOST else ""
        also = f"; wrong as well: {', '.join(further[:MOST])}{more}" if further else ""
        raise ConfigError(_say(errors[0], schema) + also)


def _wrong(error: ValidationError) -> list[str]:
    """The dotted keys that a violation of the schema is about."""
    key = ".".join(map(str, error.absolute_path))
    if error.validator == "additionalProperties" and isinstance(error.schema, Mapping):
        given: Any = error.instance
        known = error.schema.get("properties", {})
        return [".".join(filter(None, [key, name])) for name in given if name not in known]
    return [key or "the top level"]


def _not_yaml(value: Any, place: tuple[str, ...]) -> Iterator[str]:
    """Yield problems that a schema cannot detect: keys that YAML does not read as text, and non-finite numbers."""
    where = ".".join(place) or "the top level"
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{where} is {_yaml(value)}, but must be a finite number; write one, or leave the key out"
    if isinstance(value, int) and not -(2**63) <= value < 2**63:
        yield f"{where} is a number of {len(str(abs(value))):,} digits, too large for 64 bits; write a smaller one"
    inside: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, Mapping):
        for key in value:
            if not isinstance(key, str):
                yield f"{where}: the name {_yaml(key)} is {_read_as(key)}; write {_quoted(key)}, in quotes"
        inside = value.items()
    elif isinstance(value, list):
        inside = enumerate(value)
    for key, below in inside:
        yield from _not_yaml(below, (*place, str(key)))


def _read_as(value: Any) -> str:
    """Describe how YAML read a value that is not text."""
    if isinstance(value, bool):
        return f"YAML's {'yes' if value else 'no'} (it reads {'yes and on' if value else 'no and off'} so)"
    if value is None:
        return "YAML's null"
    return "a number in YAML" if isinstance(value, int | float) else "a date in YAML"


def _quoted(value: Any) -> str:
    """Quote a value that YAML did not read as text."""
    if isinstance(value, bool):
        return '"yes" or "on"' if value else '"no"'
    return f'"{_yaml(value)}"'


def _say(error: ValidationError, schema: Mapping[str, Any]) -> str:
    """Describe a schema violation in one line: the key, its value, what is allowed, what to write."""
    path = list(error.absolute_path)
    key = ".".join(map(str, path))
    rule: Any = error.validator
    value: Any = error.instance
    allowed: Any = error.validator_value
    node: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    if rule == "additionalProperties":
        known = list(node.get("properties", {}))
        unknown = next(name for name in value if name not in known)
        example = f"; write e.g. `{key.rpartition('.')[2]}: {_yaml(node['default'])}`" if node.get("default") else ""
        return (
            f"config: {'.'.join(filter(None, [key, unknown]))} is not a key"
            f"{_meant(unknown, value[unknown], known, path, schema)}; "
            f"{key or 'the top level'} may hold {', '.join(known)}{example}"
        )
    if rule == "required":
        return f"config: {key or 'the top level'} lacks {', '.join(n for n in allowed if n not in value)}; add it"
    if rule == "pattern" and allowed == CODE:
        return f"config: {key}: {wrong_code(value)}"
    if rule == "pattern" and "propertyNames" in error.absolute_schema_path:
        return f"config: {key}: {_yaml(value)} is not a usable name (it becomes a folder's); use {_NAME_IN_WORDS}"
    words = {
        "type": f"must be {_either(allowed)}",
        "enum": f"must be {_either(allowed)}",
        "minimum": f"must be at least {allowed}",
        "maximum": f"must be at most {allowed}",
        "exclusiveMinimum": f"must be above {allowed}",
        "exclusiveMaximum": f"must be below {allowed}",
        "minItems": f"needs at least {allowed} item{'s' if allowed != 1 else ''}",
        "maxItems": f"may have at most {allowed} items",
        "minProperties": f"needs at least {allowed} key{'s' if allowed != 1 else ''}",
        "uniqueItems": "has a duplicate item",
        "pattern": f"must {f'be {_NAME_IN_WORDS}' if allowed == NAME else f'match {allowed}'}",
    }.get(rule, error.message)
    last = next((step for step in reversed(path) if isinstance(step, str)), "")
    line = f"{last}: {'[{}]' if path and isinstance(path[-1], int) else '{}'}"  # an item's line is its list's
    example = f"; write e.g. `{line.format(_yaml(node['default']))}`" if "default" in node else ""
    if rule == "type" and (instead := _instead(value, allowed)):
        example = f"; {instead[0]}; write `{line.format(instead[1])}`"
    meaning = f" ({node['description']})" if "description" in node else ""
    return f"config: {key or 'the top level'} is {_yaml(value)}, but {words}{meaning}{example}"


_NAME_IN_WORDS = "letters, digits, '.', '_' and '-', a letter or digit first, 100 at most"


def _instead(value: Any, types: str | list[str]) -> tuple[str, str] | None:
    """Return why a value has the wrong type (text for a number, or a number for text), and what to write instead."""
    types = [types] if isinstance(types, str) else types
    if isinstance(value, str) and {"number", "integer"} & set(types):
        try:
            number = float(value)
        except ValueError:
            return None
        if math.isfinite(number) and ("number" in types or number.is_integer()):
            return "YAML reads this as text", _yaml(number if "number" in types else int(number))
    if isinstance(value, float) and value.is_integer() and "integer" in types:
        return "this has a decimal point", _yaml(int(value))
    if "string" in types and not isinstance(value, Mapping | list | None):
        return f"this is {_read_as(value)}", _quoted(value)
    return None


def _meant(name: str, value: Any, known: Iterable[str], path: Sequence[Any], schema: Mapping[str, Any]) -> str:
    """A hint for an unknown key: where a key of that name exists, or the closest spelling; may be empty."""
    places: dict[str, list[str]] = {}
    for place in _places(schema, path[:2] if path[:1] == ["models"] else ()):
        places.setdefault(place.rpartition(".")[2], []).append(place)
    if slip := difflib.get_close_matches(name, known, 1, 0.9):  # language for languages
        return f"; did you mean {slip[0]}?"
    # The block may not exist although its keys do, elsewhere.
    for asked in (name, *(value if isinstance(value, Mapping) else ())):
        if 1 <= len(paths := places.get(asked, [])) <= 3:
            return f"; {'it' if asked == name else asked} is {' or '.join(paths)}"
    if hint := closest(name, known):
        return hint
    (near, *_) = (*difflib.get_close_matches(name, [key for key, paths in places.items() if len(paths) <= 3], 1), "")
    return f"; did you mean {' or '.join(places[near])}?" if near else ""


def _places(schema: Mapping[str, Any], model: Sequence[str]) -> Iterator[str]:
    """Yield the dotted paths of all keys; given ``model``, a model's path, blocks are those of the model."""

    def below(node: Mapping[str, Any], place: str) -> Iterator[str]:
        for key, child in node.get("properties", {}).items():
            yield f"{place}{key}"
            yield from below(resolve(child, schema), f"{place}{key}.")

    blocks = {key for key, node in schema["properties"].items() if "$ref" in node}
    for key, node in schema["properties"].items():
        node = resolve(node, schema)
        prefix = f"{'.'.join(model)}." if model and key in schema["$defs"]["model"]["properties"] else ""
        yield prefix + key
        if key in blocks:
            yield from below(node, f"{prefix}{key}.")
    for kind, place in (("corpus", "corpora.<name>"), ("model", ".".join(model) or "models.<name>")):
        for key in schema["$defs"][kind]["properties"]:
            if key not in schema["properties"]:
                yield f"{place}.{key}"


def _either(allowed: Any) -> str:
    names = {"null": "null", "None": "null", "integer": "a whole number", "boolean": "true or false",
             "object": "a mapping", "array": "a list", "string": "a text", "number": "a number"}  # fmt: skip
    items = allowed if isinstance(allowed, list) else [allowed]
    return " or ".join(names.get(str(item), str(item)) for item in items)


def _yaml(value: Any) -> str:
    return (
        yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).removesuffix("\n...\n").strip()
    )
