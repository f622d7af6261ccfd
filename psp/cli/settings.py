"""``psp settings``: the keys of the config, as YAML with their defaults."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from psp.core.errors import DataError, closest


def add_settings(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp settings``."""
    added.add_argument(
        "block", nargs="?", help="only this block or key, such as filters or train.epochs (default: the names of all)"
    )


def run_settings(options: argparse.Namespace) -> None:
    """Run ``psp settings``."""
    from psp.config.blocks.entries import Document

    if options.block is None:
        for name, key in keys(Document).items():
            print(f"{name}: {key.help}")
        return
    path = options.block.split(".")
    if path[:2] == ["evaluate", "tasks"]:
        _tasks(path[2:])
        return
    found = Key(Document)
    for place, name in enumerate(path):
        below = {} if found.block is None else {**keys(found.block), **further(found.block)}
        if name not in below:
            where = f"of {'.'.join(path[:place])}" if place else "of the config"
            raise DataError(f"no key {where}{closest(name, below)}; `psp settings` lists the blocks", name)
        found = below[name]
    print("\n".join(_lines(path[-1], found, "")))


def _tasks(kinds: list[str]) -> None:
    """The keys of an entry of ``evaluate.tasks``, by the kind of task."""
    from psp.evaluation.tasks import Task, names

    for kind in kinds or names():
        if kind not in names():
            raise DataError(f"no kind of task{closest(kind, names())}; `psp settings evaluate.tasks` has all", kind)
        task = Task.classes[kind]
        print(f"<name>:  # {task.help}")
        print(f"  task: {kind}")
        for name, key in keys(task.Settings).items():
            print("\n".join(_lines(name, key, "  ")))


class Key:
    """A key of the config: its type, and its declaration.

    Attributes:
        block: the block that it holds, if it does, or the entries of its table.
        table: whether it is a table with the user's own names.
        recipes: other recipes' defaults.
        unstated: recipes whose paper does not state its value.
    """

    def __init__(self, annotation: Any, field: Any = None) -> None:
        from psp.config.blocks.errors import help_of
        from psp.config.blocks.fields import about, block_in

        self.annotation, self.field = annotation, field
        self.block, self.table = block_in(annotation)
        self.recipes: Mapping[str, Any] = (about(field, "recipes") if field else None) or {}
        self.unstated: list[str] = (about(field, "unstated") if field else None) or []
        self.has_default = field is not None and not (field.is_required() or about(field, "absent"))
        described = field.description if field is not None else None
        self.help: str = described or (help_of(self.block) if self.block else "")

    @property
    def default(self) -> Any:
        """Its default; of a block, nothing."""
        return self.field.default if self.has_default and (self.block is None or self.table) else None

    @property
    def allowed(self) -> str:
        """The values that it may hold, in a few words of Markdown."""
        return _allowed(self.annotation, self.field.metadata if self.field else ())


def keys(block: Any) -> dict[str, Key]:
    """The keys of a block, by name."""
    return {name: Key(field.annotation, field) for name, field in block.declared().items()}


def further(block: Any) -> dict[str, Key]:
    """The user's own entries beside the keys of a block, if it has them."""
    from psp.config.blocks.errors import values_of

    return {"<name>": Key(values)} if (values := values_of(block)) is not None else {}


def _lines(name: str, key: Key, indent: str) -> Iterator[str]:
    from psp.config.blocks.entries import Document

    if key.block is not None:
        yield f"{indent}{name}:" + (f"  # {key.help}" if key.help else "")
        inner = indent + "  "
        if key.table:
            yield f"{inner}<name>:"
            inner += "  "
        whole = keys(Document)
        for below, one in (keys(key.block) | further(key.block)).items():
            if one.block is not None and below in whole and whole[below].block is one.block:
                yield f"{inner}{below}:  # as `psp settings {below}`"
            else:
                yield from _lines(below, one, inner)
        return
    about = [key.help] if key.help else []
    about += [words] if (words := key.allowed.replace("`", "")) else []
    about += [f"{recipe}: {_value(value)}{'*' * (recipe in key.unstated)}" for recipe, value in key.recipes.items()]
    default = f" {_value(key.default)}" if key.has_default else ""
    yield f"{indent}{name}:{default}  # {'; '.join(about)}"


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda _: None)


_WORDS = {int: "whole number", float: "number", bool: "`true`, `false`", str: "text", dict: "mapping"}


def _allowed(annotation: Any, limits: Sequence[Any]) -> str:
    """The values of a type, in a few words."""
    if get_origin(annotation) is Annotated:
        inner, *about = get_args(annotation)
        return _allowed(inner, [*limits, *about])
    if get_origin(annotation) in (Union, UnionType):
        members = [one for one in get_args(annotation) if one is not type(None)]
        words = [_allowed(one, limits) for one in members] + ["`null`"] * (len(members) < len(get_args(annotation)))
        return ", ".join(dict.fromkeys(words))
    if get_origin(annotation) is Literal:
        return ", ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) is list:
        (items,) = get_args(annotation)
        named = get_origin(items) is Literal
        return f"list of {_allowed(items, ())}" if named else "list"
    word = _WORDS.get(get_origin(annotation) or annotation, "mapping")
    signs = {"ge": "≥", "gt": ">", "le": "≤", "lt": "<"}
    # Sorted, since pydantic keeps them in the order of its own arguments.
    given = [f"{sign} {getattr(one, key)}" for key, sign in signs.items() for one in limits if hasattr(one, key)]
    return ", ".join([" ".join([word, *given[:1]]), *given[1:]])
