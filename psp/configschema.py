"""The config's schema: defaults by recipe, what departs from them, and one line for what is not as it says."""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import jsonschema
import yaml

from psp.errors import ConfigError
from psp.merging import merge
from psp.parts import closest


def read_yaml(path: Path | str) -> dict[str, Any]:
    """Read a YAML mapping.

    Raises:
        ConfigError: the file is missing, is not YAML or is not a mapping.
    """
    try:
        value = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name a config file that exists") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(value or {}, Mapping):
        raise ConfigError(f"{path}: is not a mapping of keys to values")
    return dict(value or {})


@functools.cache
def load_schema(path: str) -> dict[str, Any]:
    """The schema, with what searches and variants may hold written into it. Not to be changed.

    Raises:
        ConfigError: the file is missing, or is not YAML.
    """
    schema = read_yaml(path)
    # A value of the grid, or of a variant, is checked as the key of `train` is that it is for.
    places = {key: {"$ref": f"#/$defs/train/properties/{key}"} for key in tunable(schema)}
    grid = schema["$defs"]["tune"]["properties"]["grid"]
    values = grid["additionalProperties"]
    grid["properties"] = {key: {**values, "items": place} for key, place in places.items()}
    grid["additionalProperties"] = False
    schema["$defs"]["model"]["properties"]["variants"]["additionalProperties"]["properties"] |= places
    return schema


def tunable(schema: Mapping[str, Any]) -> list[str]:
    """The keys of the block ``train`` that change what is learned."""
    return [key for key, node in schema["$defs"]["train"]["properties"].items() if node.get("tunable")]


def _resolve(node: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Follow a $ref, keys beside it winning."""
    result = dict(node)
    while "$ref" in result:
        target: Any = schema
        for step in result.pop("$ref").removeprefix("#/").split("/"):
            target = target[step]
        result = {**target, **result}
    return result


def defaults(node: Mapping[str, Any], schema: Mapping[str, Any], recipe: str, own: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a block takes when nobody sets them; ``own`` tells which entries a free-keyed table has."""
    node = _resolve(node, schema)
    values: dict[str, Any] = {}
    for key, child in node.get("properties", {}).items():
        child = _resolve(child, schema)
        if recipe in child.get("recipes", {}):
            values[key] = copy.deepcopy(child["recipes"][recipe])
        elif "default" in child:
            values[key] = copy.deepcopy(child["default"])
        elif "properties" in child:
            values[key] = defaults(child, schema, recipe, own.get(key, {}))
    entries = node.get("additionalProperties")
    if isinstance(entries, Mapping) and "properties" in _resolve(entries, schema):
        for key, value in merge(node.get("default", {}), own).items():
            given = node.get("default", {}).get(key, {})
            values[key] = merge(defaults(entries, schema, recipe, value), given)
    return values


def differences(base: Any, value: Any, key: str) -> dict[str, Any]:
    """Dotted keys below ``key``, with their values, where ``value`` is not ``base``."""
    if isinstance(base, Mapping) and isinstance(value, Mapping) and set(base) <= set(value):
        found: dict[str, Any] = {}
        for name in value:
            found |= differences(base.get(name), value[name], f"{key}.{name}")
        return found
    return {} if base == value else {key: value}


def check(raw: Mapping[str, Any], schema: Mapping[str, Any]) -> None:
    """Make sure that a config is as the schema says.

    Raises:
        ConfigError: it is not; one line tells the first key, what is allowed and what to write.
    """
    validator = jsonschema.Draft202012Validator(schema)
    errors = sorted(validator.iter_errors(raw), key=lambda error: (len(error.absolute_path), str(error.absolute_path)))
    if errors:
        raise ConfigError(_say(errors[0]))


def _say(error: jsonschema.ValidationError) -> str:
    """One line for one schema violation: the key, its value, what is allowed, what to write."""
    key = ".".join(str(step) for step in error.absolute_path)
    rule: Any = error.validator
    value: Any = error.instance
    allowed: Any = error.validator_value
    node: Mapping[str, Any] = error.schema if isinstance(error.schema, Mapping) else {}
    if rule == "additionalProperties":
        known = list(node.get("properties", {}))
        unknown = next(name for name in value if name not in known)
        example = f"; write e.g. `{key.rpartition('.')[2]}: {_yaml(node['default'])}`" if node.get("default") else ""
        return (
            f"config: {'.'.join(filter(None, [key, str(unknown)]))} is not a key{closest(str(unknown), known)}; "
            f"{key or 'the top level'} may hold {', '.join(known)}{example}"
        )
    if rule == "required":
        return f"config: {key or 'the top level'} lacks {', '.join(n for n in allowed if n not in value)}; add it"
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
        "uniqueItems": "holds something twice",
        "pattern": f"must match {allowed}",
    }.get(rule, error.message)
    path = list(error.absolute_path)
    line = "{}: [{}]" if path and isinstance(path[-1], int) else "{}: {}"  # an item's line is its list's
    last = next((step for step in reversed(path) if isinstance(step, str)), "")
    example = f"; write e.g. `{line.format(last, _yaml(node['default']))}`" if "default" in node else ""
    meaning = f" ({node['description']})" if "description" in node else ""
    return f"config: {key or 'the top level'} is {_yaml(value)}, but {words}{meaning}{example}"


def _either(allowed: Any) -> str:
    names = {"null": "null", "integer": "a whole number", "boolean": "true or false", "object": "a mapping",
             "array": "a list", "string": "a text", "number": "a number"}  # fmt: skip
    items = allowed if isinstance(allowed, list) else [allowed]
    return " or ".join(names.get(str(item), str(item)) for item in items)


def _yaml(value: Any) -> str:
    return (
        yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=10**6).removesuffix("\n...\n").strip()
    )
