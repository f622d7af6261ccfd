"""``psp settings``: the keys of the config, as YAML with their defaults."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from typing import Any

from psp.core.errors import DataError, closest

#: Where the entries of the tables of the top level are described, by the names of the tables.
_ENTRIES = {"corpora": "corpus", "models": "model", "variants": "model"}


def add_settings(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp settings``."""
    added.add_argument(
        "block", nargs="?", help="only this block or key, such as filters or train.epochs (default: the names of all)"
    )


def run_settings(options: argparse.Namespace) -> None:
    """Run ``psp settings``."""
    from psp.config import entries

    document = entries.document()
    if options.block is None:
        for name, node in document["properties"].items():
            print(f"{name}: {followed(node, document).get('description', '')}")
        return
    node, path = document, options.block.split(".")
    if path[:2] == ["evaluate", "tasks"]:
        _tasks(path[2:])
        return
    for place, key in enumerate(path):
        below = _keys(node, document)
        if key not in below:
            where = f"of {'.'.join(path[:place])}" if place else "of the config"
            raise DataError(f"no key {where}{closest(key, below)}; `psp settings` lists the blocks", key)
        node = followed(below[key], document)
    print("\n".join(_lines(path[-1], node, document, "")))


def _tasks(kinds: list[str]) -> None:
    """The keys of an entry of ``evaluate.tasks``, by the kind of task."""
    from psp.core.settings import Section
    from psp.evaluation.tasks import Task, names

    for kind in kinds or names():
        if kind not in names():
            raise DataError(f"no kind of task{closest(kind, names())}; `psp settings evaluate.tasks` has all", kind)
        task = Task.classes[kind]
        lines = _lines("<name>", Section(task.help, task.declared).node, {"properties": {}}, "")
        first, *rest = lines
        print("\n".join([first, f"  task: {kind}", *rest]))


def followed(node: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """A node with its ``$ref`` resolved; what stands beside the reference comes first."""
    from psp.config.schema import resolve

    return {**resolve(node, document), **{key: value for key, value in node.items() if key != "$ref"}}


def _keys(node: Mapping[str, Any], document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The keys below a node: its own, or those of the entries of a table."""
    entry = node.get("additionalProperties")
    of_entry = followed(entry, document).get("properties", {}) if isinstance(entry, Mapping) else {}
    return {**of_entry, **node.get("properties", {})}


def _lines(key: str, node: Mapping[str, Any], document: Mapping[str, Any], indent: str) -> Iterator[str]:
    about = [node["description"]] if node.get("description") else []
    below = _keys(node, document)
    if below:
        yield f"{indent}{key}:{''.join(f'  # {text}' for text in about)}"
        inner = indent + "  "
        if isinstance(node.get("additionalProperties"), Mapping):
            yield f"{inner}<name>:"
            inner += "  "
        for name, one in below.items():
            if f"#/$defs/{name}" == one.get("$ref") and name in document["properties"]:
                yield f"{inner}{name}:  # as `psp settings {name}`"
            else:
                yield from _lines(name, followed(one, document), document, inner)
        return
    about += [words] if (words := allowed(node).replace("`", "")) else []
    about += [
        f"{recipe}: {_value(value)}{'*' * (recipe in node.get('unstated', ()))}"
        for recipe, value in node.get("recipes", {}).items()
    ]
    default = f" {_value(node['default'])}" if "default" in node and not callable(node["default"]) else ""
    yield f"{indent}{key}:{default}  # {'; '.join(about)}"


def _value(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=lambda _: None)


def allowed(node: Mapping[str, Any]) -> str:
    """The values that a key may hold, in a few words of Markdown."""
    if "enum" in node:
        return ", ".join(f"`{value}`" for value in node["enum"])
    if "enum" in node.get("then", {}):
        return f"{allowed(node['then'])}, mapping"
    kinds = [node["type"]] if isinstance(node.get("type"), str) else list(node.get("type", ()))
    words = {
        "integer": "whole number", "number": "number", "boolean": "`true`, `false`", "string": "text", "array": "list",
        "object": "mapping", "null": "`null`",
    }  # fmt: skip
    limits = [
        f"{sign} {node[key]}"
        for key, sign in (("minimum", "≥"), ("exclusiveMinimum", ">"), ("maximum", "≤"), ("exclusiveMaximum", "<"))
        if key in node
    ]
    first, *rest = [words[kind] for kind in kinds] or ["any"]
    if node.get("items", {}).get("enum"):
        first = f"list of {', '.join(f'`{value}`' for value in node['items']['enum'])}"
    return ", ".join([" ".join([first, *limits[:1]]), *limits[1:], *rest])
