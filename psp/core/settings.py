"""Declare a setting once: type, range, default, the default of each recipe, and a sentence of help.

The declaration is beside the code that reads the setting (a filter's in its class, training's in
:mod:`psp.training.settings`) or else in :mod:`psp.config.blocks`. It yields the config's schema, the check of values
from elsewhere, and what ``psp settings`` prints.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

RECIPES = ("psp", "paper", "code", "paranmt", "dadas", "distilled")
"""The groups of defaults; ``default`` is that of the first."""

NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
"""The names that become files and folders."""

REQUIRED: Any = object()
"""The default of a key that has none."""


def matches(pattern: str, text: str) -> bool:
    """Whether a JSON Schema's pattern matches in a text; its ``$`` is the very end, not a line feed before it."""
    return re.search(pattern, text) is not None and not (pattern.endswith("$") and text.endswith("\n"))


def match_whole(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    """The keyword ``pattern`` for jsonschema's validators, by :func:`matches`."""
    from psp.core.json_schema import ValidationError

    if isinstance(instance, str) and not matches(pattern, instance):
        yield ValidationError(f"{instance!r} does not match {pattern!r}")


@dataclass(frozen=True, eq=False)
class Setting:
    """One key of the config; made by :func:`integer`, :func:`number`, :func:`choice` and the like.

    Attributes:
        values: gives the values that are allowed, as JSON Schema (type, enum, range, pattern, items). A function,
            since the names in a registry may still grow.
        noun: the same in words, for errors; empty where they are to be enumerated.
        help: one sentence, in lower case and without a full stop.
        default: under ``recipe: psp``, and wherever ``recipes`` has none; :data:`REQUIRED` for none.
        recipes: defaults of other recipes.
        unstated: those among them whose paper does not state the value; ``psp settings`` marks it.
        tunable: for training settings: whether it changes what is learned, so that searches and variants may set it.
        inert: whether it does not affect models: another value remakes nothing, and does not count as a difference
            from the recipe.
        untracked: whether another value remakes nothing for another reason, such as a file that represents it.
    """

    values: Callable[[], Mapping[str, Any]]
    noun: str
    help: str = ""
    default: Any = REQUIRED
    recipes: Mapping[str, Any] = field(default_factory=dict)
    unstated: Sequence[str] = ()
    tunable: bool = False
    inert: bool = False
    untracked: bool = False

    @property
    def node(self) -> dict[str, Any]:
        """The key in the config's schema; ``recipes``, ``unstated`` and ``tunable`` are keywords of our own."""
        node = dict(self.values())
        if self.default is not REQUIRED:
            node["default"] = self.default
        if self.recipes:
            node["recipes"] = dict(self.recipes)
        if self.unstated:
            node["unstated"] = list(self.unstated)
        if self.tunable:
            node["tunable"] = True
        if self.help:
            node["description"] = self.help
        return node

    @property
    def allowed(self) -> str:
        """The allowed values, in words."""
        return self.noun or " or ".join("null" if word is None else word for word in self.values()["enum"])

    def allows(self, value: Any) -> bool:
        """Whether the setting may have this value."""
        return _allows(self.values(), value)


@dataclass(frozen=True, eq=False)
class Section:
    """A mapping of the config whose keys are known.

    Attributes:
        help: what it is about.
        keys: its settings and sections, by name.
        required: the keys that must be there.
        inert: whether all of them are, as for a :class:`Setting`.
    """

    help: str
    keys: Mapping[str, Setting | Section | Mapping[str, Any]]
    required: Sequence[str] = ()
    inert: bool = False

    def __getitem__(self, key: str) -> Setting:
        setting = self.keys[key]
        assert isinstance(setting, Setting)
        return setting

    @property
    def node(self) -> dict[str, Any]:
        """The section in the config's schema."""
        node: dict[str, Any] = {"type": "object", "additionalProperties": False}
        if self.required:
            node["required"] = list(self.required)
        if self.help:
            node["description"] = self.help
        properties = {key: dict(one) if isinstance(one, Mapping) else one.node for key, one in self.keys.items()}
        return {**node, "properties": properties}


def tracked(section: Section, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values of a section's keys whose change remakes what depends on the section."""
    return {key: value for key, value in values.items() if not _apart(section.keys.get(key))}


def inert(name: str, declared: Setting | Section | Mapping[str, Any]) -> Iterator[str]:
    """Prefixes of the dotted keys that are inert in a block of that name, or the block itself."""
    if isinstance(declared, Mapping):
        return
    if declared.inert:
        yield f"{name}." if isinstance(declared, Section) else name
    elif isinstance(declared, Section):
        for key, below in declared.keys.items():
            yield from inert(f"{name}.{key}", below)


def _apart(declared: Setting | Section | Mapping[str, Any] | None) -> bool:
    if declared is None or isinstance(declared, Mapping):
        return False
    return declared.inert or (isinstance(declared, Setting) and declared.untracked)


def integer(
    default: int | None = REQUIRED,
    *,
    at_least: int | None = None,
    at_most: int | None = None,
    null: bool = False,
    **about: Any,
) -> Setting:
    """A whole number, or with ``null`` also null; ``about`` holds ``help``, ``recipes``, ``unstated`` and so on."""
    limits = {"minimum": at_least, "maximum": at_most}
    return _numeric("integer", "a whole number", limits, default, null, about)


def number(
    default: float | None = REQUIRED,
    *,
    at_least: float | None = None,
    above: float | None = None,
    at_most: float | None = None,
    below: float | None = None,
    null: bool = False,
    noun: str = "a number",
    **about: Any,
) -> Setting:
    """A finite number, or with ``null`` also null; errors call it ``noun``."""
    limits = {"minimum": at_least, "exclusiveMinimum": above, "maximum": at_most, "exclusiveMaximum": below}
    return _numeric("number", noun, limits, default, null, about)


def choice(
    default: str | None = REQUIRED,
    options: Sequence[str] | Callable[[], Iterable[str]] = (),
    *,
    null: bool = False,
    **about: Any,
) -> Setting:
    """One of several words, or with ``null`` also null; ``options`` may be a function that reads a registry."""
    if callable(options):
        return Setting(lambda: {"enum": list(options())}, "", default=default, **about)
    words = [*options, None] if null else [*options]
    return Setting(lambda: {"enum": words}, "", default=default, **about)


def boolean(default: bool | None = REQUIRED, *, null: bool = False, **about: Any) -> Setting:
    """True or false, or with ``null`` also null."""
    return Setting(
        lambda: {"type": _type("boolean", null)}, "true or false" + ", or null" * null, default=default, **about
    )


def text(
    default: str | None = REQUIRED,
    *,
    pattern: str | None = None,
    at_least: int | None = None,
    null: bool = False,
    noun: str = "a text",
    **about: Any,
) -> Setting:
    """Text of at least ``at_least`` characters, or with ``null`` also null."""
    values = _given({"type": _type("string", null), "pattern": pattern, "minLength": at_least})
    return Setting(lambda: values, noun + ", or null" * null, default=default, **about)


def list_of(
    default: Sequence[Any] | None = REQUIRED,
    *,
    items: Setting | Mapping[str, Any],
    at_least: int | None = None,
    at_most: int | None = None,
    distinct: bool = False,
    null: bool = False,
    **about: Any,
) -> Setting:
    """A list whose items must fulfil ``items``."""

    def values() -> dict[str, Any]:
        node = items.node if isinstance(items, Setting) else dict(items)
        limits = {"minItems": at_least, "maxItems": at_most, "uniqueItems": distinct or None}
        return _given({"type": _type("array", null), **limits, "items": node})

    return Setting(values, "a list" + ", or null" * null, default=default, **about)


def table(
    default: Mapping[str, Any] = REQUIRED,
    *,
    values: Setting | Section | Mapping[str, Any],
    names: str | None = None,
    **about: Any,
) -> Setting:
    """A mapping with the user's own keys, which match the pattern ``names``, and values that fulfil ``values``."""

    def node() -> dict[str, Any]:
        below = dict(values) if isinstance(values, Mapping) else values.node
        pattern = {"pattern": names} if names else None
        return _given({"type": "object", "propertyNames": pattern, "additionalProperties": below})

    return Setting(node, "a mapping", default=default, **about)


def _type(name: str, null: bool) -> Any:
    return [name, "null"] if null else name


def _given(node: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in node.items() if value is not None}


def _numeric(
    name: str, noun: str, limits: Mapping[str, float | None], default: Any, null: bool, about: Mapping[str, Any]
) -> Setting:
    given = {key: limit for key, limit in limits.items() if limit is not None}
    words = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}
    bounds = [f"{words[key]} {limit}" for key, limit in given.items()]
    if given.keys() == {"minimum", "maximum"}:
        bounds = ["{minimum} to {maximum}".format(**given)]
    values = {"type": _type(name, null), **given}
    return Setting(lambda: values, ", ".join([noun, *bounds]) + ", or null" * null, default=default, **about)


_LARGEST = sys.float_info.max


def _allows(node: Mapping[str, Any], value: Any) -> bool:
    if "anyOf" in node:
        return any(_allows(one, value) for one in node["anyOf"])
    if "enum" in node:
        return (value is None or isinstance(value, str)) and value in node["enum"]
    kinds = node.get("type", ())
    kinds = (kinds,) if isinstance(kinds, str) else kinds
    if value is None:
        return "null" in kinds
    if isinstance(value, bool):
        return "boolean" in kinds
    if isinstance(value, int | float):
        return (
            ("number" in kinds or ("integer" in kinds and isinstance(value, int)))
            and -_LARGEST <= value <= _LARGEST  # which an integer of 400 digits is not, nor NaN
            and node.get("minimum", value) <= value <= node.get("maximum", value)
            and ("exclusiveMinimum" not in node or value > node["exclusiveMinimum"])
            and ("exclusiveMaximum" not in node or value < node["exclusiveMaximum"])
        )
    if isinstance(value, str):
        fits = len(value) >= node.get("minLength", 0) and matches(node.get("pattern", ""), value)
        return "string" in kinds and fits
    if isinstance(value, list | tuple):
        right = node.get("minItems", 0) <= len(value) and all(_allows(node["items"], item) for item in value)
        return "array" in kinds and right and not (node.get("uniqueItems") and len(value) != len(set(value)))
    if isinstance(value, Mapping) and isinstance(node.get("additionalProperties"), Mapping):
        return all(isinstance(key, str) and _allows(node["additionalProperties"], one) for key, one in value.items())
    if isinstance(value, Mapping) and "properties" in node:
        known = node["properties"]
        whole = set(node.get("required", ())) <= value.keys() <= known.keys()
        return "object" in kinds and whole and all(_allows(known[key], one) for key, one in value.items())
    return False
