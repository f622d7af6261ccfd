"""How a setting is declared: its type and range, its default and those of other recipes, a sentence."""

from __future__ import annotations

import re
import types
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, Discriminator, Field, StringConstraints
from pydantic.fields import FieldInfo
from pydantic_core import PydanticCustomError

Recipe = Literal["psp", "paper", "code", "paranmt", "dadas", "distilled"]
RECIPES: tuple[str, ...] = get_args(Recipe)
"""The groups of defaults; a setting's plain default is that of the first."""

NAME = "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
"""The names that become files and folders."""
CODE = "^[a-z]{2,3}$"
"""Codes of languages."""

Name = Annotated[str, StringConstraints(pattern=NAME)]
Language = Annotated[str, StringConstraints(pattern=CODE)]
Text = Annotated[str, StringConstraints(min_length=1)]


def _distinct(items: Any) -> Any:
    if any(item in items[:place] for place, item in enumerate(items)):
        raise PydanticCustomError("distinct", "has a duplicate item")
    return items


Distinct = AfterValidator(_distinct)
"""Of a list: no item occurs twice."""


def _form(value: Any) -> str | None:
    """Name the form of a value, which decides between the members of a union that are tagged with these names."""
    if isinstance(value, Mapping):
        return "<mapping>"
    if isinstance(value, bool):
        return None
    return {str: "<text>", int: "<number>", list: "<list>"}.get(type(value))


ByForm = Discriminator(_form)


def matching(pattern: str, words: str) -> AfterValidator:
    """Check that a text matches a pattern as a whole; errors say what it must be, in words."""

    def matched(value: str) -> str:
        if re.fullmatch(pattern, value) is None:
            raise PydanticCustomError("choice", "must be {words}", {"words": words})
        return value

    return AfterValidator(matched)


Device = Annotated[str, matching("auto|cpu|cuda(:[0-9]+)?", "auto, cpu, cuda or a numbered one as cuda:1")]
Mirrors = Annotated[list[Text], Field(min_length=1)]
"""Addresses, tried in order."""


def setting(
    default: Any,
    help: str,
    *,
    recipes: Mapping[str, Any] | None = None,
    unstated: Sequence[str] = (),
    inert: bool = False,
    untracked: bool = False,
    alias: str | None = None,
    **limits: Any,
) -> Any:
    """Declare a setting.

    Args:
        default: under ``recipe: psp``, and wherever ``recipes`` has none; ``...`` for a key that must be there.
        help: one sentence, in lower case and without a full stop.
        recipes: defaults of other recipes.
        unstated: those among them whose paper does not state the value; ``psp settings`` marks it.
        inert: it does not affect models: another value remakes nothing, and is no difference from the recipe.
        untracked: another value remakes nothing for another reason, such as a file that represents it.
        alias: the key, if that is a word of Python.
        limits: as of pydantic's ``Field``: ge, gt, le, lt, pattern, min_length, max_length.
    """
    about: dict[str, Any] = {
        "recipes": dict(recipes or {}),
        "unstated": list(unstated),
        "inert": inert,
        "untracked": untracked,
    }
    return Field(
        default, description=help, alias=alias,
        json_schema_extra={key: value for key, value in about.items() if value}, **limits,
    )  # fmt: skip


def within(block: type[Any]) -> Any:
    """Declare a block within a block; it is made only where it is asked for."""
    return Field(default_factory=block)


def optional(help: str, *, example: Any = None, **about: Any) -> Any:
    """Declare a key that may be left out and then has no value; errors suggest the example."""
    field = setting(None, help, **about)
    field.json_schema_extra |= {"absent": True, "example": example}
    return field


def about(field: FieldInfo, what: str) -> Any:
    """What a setting's declaration says: ``recipes``, ``unstated``, ``inert``, ``untracked``, ``absent``."""
    extra = field.json_schema_extra
    return extra.get(what) if isinstance(extra, dict) else None


def plain(annotation: Any) -> Any:
    """A type without its metadata and without null."""
    while True:
        if get_origin(annotation) is Annotated:
            annotation = get_args(annotation)[0]
            continue
        if get_origin(annotation) in (Union, types.UnionType):
            members = [one for one in get_args(annotation) if one is not type(None)]
            if len(members) == 1:
                (annotation,) = members
                continue
        return annotation


def block_in(annotation: Any) -> tuple[type[Any] | None, bool]:
    """The block that a setting holds, if it does, and whether it is a table of such blocks with free keys."""
    inner = plain(annotation)
    if isinstance(inner, type) and issubclass(inner, BaseModel):
        return inner, False
    if get_origin(inner) is dict:
        value = plain(get_args(inner)[1])
        if isinstance(value, type) and issubclass(value, BaseModel):
            return value, True
    return None, False
