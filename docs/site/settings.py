"""The page of all settings, from their declarations; ``make docs`` writes it as settings.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from psp.cli.settings import allowed
from psp.config import entries
from psp.config.schema import resolve
from psp.core.settings import RECIPES, REQUIRED, Section, Setting
from psp.evaluation.tasks import Task
from psp.evaluation.tasks import names as tasks

_INTRODUCTION = """\
# Every setting

A config is YAML, merged over [config/config.yaml](../config/config.yaml). The blocks `filters` to `release` may be at
the top level, for all models, or in a model's entry, for that one. A key that is left out has the default of the
`recipe`:

- `psp`: our own, chosen on [development data](results.md#what-decided-the-recipe), on correctly filtered pairs;
- `distilled`: the same, but training starts from an encoder's vectors of the pieces (`train.init_encoder`; extra `e5`),
  and models with English also learn from MiniLM (block `teacher`; extra `peers`);
- `paper`: the method as described in "Paraphrastic Representations at Scale" (EMNLP 2022);
- `code`: its published code, where the two disagree;
- `paranmt`: the method of "ParaNMT-50M" (ACL 2018);
- `dadas`: the method of Dadas (2022): mining (block `pivot`) and transformers; means of embeddings have `psp`'s values.

An empty cell under another recipe means the default of `psp`; a recipe without a column in a table has `psp`'s values
in all of it. Under `paranmt` and `dadas`, the paper states a value without `*`; one with `*` comes from its published
code; an empty cell means that neither states it, or that it does not apply. "Tunable" settings change what is learned:
a model's `variants`, and their `grid`, may contain them.
"""


def page() -> str:
    """The page, as Markdown."""
    lines = [_INTRODUCTION, "## The top level", "", *_table(entries.TOP)]
    for name, section in entries.sections().items():
        lines += ["", f"## `{name}`", "", *_section(name, section)]
        if name == "evaluate":
            lines += _tasks()
    for title, section in (
        ("corpora.<name>", entries.CORPUS),
        ("vectors.<name>", entries.VECTORS),
        ("models.<name>", entries.model()),
        ("translators.<name>", entries.TRANSLATOR),
    ):
        lines += ["", f"## `{title}`", "", *_section(title, section)]
    lines += ["", "### An item of `models.<name>.corpora`", "", *_section("", entries.ITEM)]
    return "\n".join(lines) + "\n"


def _tasks() -> Iterator[str]:
    """The keys of a task's entry, for each kind."""
    for kind in tasks():
        task = Task.classes[kind]
        yield from ("", f"### `evaluate.tasks.<name>` with `task: {kind}`", "", _sentence(task.help))
        yield "Figures: " + "; ".join(f"`{figure}`, {help}" for figure, (help, *_) in task.metrics.items()) + "."
        yield ""
        yield from _table(task.declared)


def _section(name: str, section: Section | Setting) -> Iterator[str]:
    if isinstance(section, Setting):  # a table by language
        yield f"{_sentence(section.help)} Default: {_code(section.default)}. An entry holds:"
        yield ""
        yield from _nodes(section.node["additionalProperties"]["properties"])
        return
    yield _sentence(section.help)
    plain = {key: one for key, one in section.keys.items() if not _is_section(one)}
    if plain:
        yield ""
        yield from _nodes({key: one if isinstance(one, Mapping) else one.node for key, one in plain.items()})
    for key, one in section.keys.items():
        if key not in plain:
            yield from ("", f"### `{name}.{key}`", "")
            if isinstance(one, Section):
                yield from _section(f"{name}.{key}", one)
            else:
                assert isinstance(one, Mapping)
                yield _sentence(one.get("description", ""))
                yield ""
                yield from _nodes(one["properties"])


def _is_section(one: Setting | Section | Mapping[str, Any]) -> bool:
    return isinstance(one, Section) or (isinstance(one, Mapping) and "properties" in one)


def _table(settings: Mapping[str, Setting]) -> Iterator[str]:
    return _nodes({key: setting.node for key, setting in settings.items()})


def _nodes(nodes: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    document = entries.document()
    nodes = {key: _followed(node, document) for key, node in nodes.items()}
    others = [recipe for recipe in RECIPES[1:] if any(recipe in node.get("recipes", {}) for node in nodes.values())]
    yield f"| {' | '.join(['key', 'default', *others, 'allowed', 'what it does'])} |"
    yield "|" + " --- |" * (4 + len(others))
    for key, node in nodes.items():
        recipes = [_of_recipe(node, one) for one in others]
        default = _code(node["default"]) if "default" in node else ""
        help_text = _prose(node.get("description", "")) + ("; tunable" if node.get("tunable") else "")
        cells = [f"`{key}`", default, *recipes, allowed(node), help_text]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _of_recipe(node: Mapping[str, Any], recipe: str) -> str:
    if recipe not in node.get("recipes", {}):
        return ""
    return _code(node["recipes"][recipe]) + "\\*" * (recipe in node.get("unstated", ()))


def _followed(node: Mapping[str, Any], document: Mapping[str, Any]) -> dict[str, Any]:
    """A node with its $ref resolved, except the settings of a whole block, which have their own section."""
    if "$ref" not in node:
        return dict(node)
    target = resolve({"$ref": node["$ref"]}, document)
    own = {key: value for key, value in node.items() if key != "$ref"}
    if "properties" in target or isinstance(target.get("additionalProperties"), Mapping):
        name = node["$ref"].rpartition("/")[2]
        return {"type": "object", "description": f"see `{name}` above", **own}
    return {**target, **own}


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]
    return f"{first.capitalize() if first.islower() else first}{_prose(text[len(first) :])}." if text else ""


def _prose(text: str) -> str:
    """Format help in Markdown: escape ``<model>`` outside code, so that it is not a tag."""
    parts = text.split("`")
    return "`".join([part.replace("<", "\\<") if place % 2 == 0 else part for place, part in enumerate(parts)])


def _code(value: Any) -> str:
    if value is REQUIRED:
        return ""
    return f"`{json.dumps(value, ensure_ascii=False)}`"
