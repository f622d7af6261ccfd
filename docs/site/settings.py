"""The page of all settings, from their declarations; ``make docs`` writes it as settings.md."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from psp.cli.settings import Key, further, keys
from psp.config.blocks.corpora import CorpusBlock, CorpusItem
from psp.config.blocks.entries import Document, ModelBlock, Top
from psp.config.blocks.fields import RECIPES
from psp.config.blocks.sources import VectorsBlock
from psp.config.blocks.translator import TranslatorBlock, TranslatorTrainBlock
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
code; an empty cell means that neither states it, or that it does not apply.

An editor that knows YAML completes and checks a config by [config.schema.json](config.schema.json); most read its
address from the first line, `# yaml-language-server: $schema=ADDRESS`.
"""

#: Entries of tables with sections of their own, and what a model's entry has besides its blocks.
_ENTRIES: Mapping[str, Any] = {
    "corpora.<name>": CorpusBlock,
    "vectors.<name>": VectorsBlock,
    "models.<name>": ModelBlock,
    "an item of models.<name>.corpora": CorpusItem,
    "translators.<name>": TranslatorBlock,
    "translators.<name>.train": TranslatorTrainBlock,
}


def page() -> str:
    """The page, as Markdown."""
    lines = [_INTRODUCTION, "## The top level", "", *_table(keys(Top))]
    for name, key in keys(Document).items():
        if name not in Top.declared() and name not in ("corpora", "models", "vectors", "translators"):
            lines += ["", f"## `{name}`", "", *_section(name, key.block, key.help)]
            if name == "evaluate":
                lines += _tasks()
    for title, block in _ENTRIES.items():
        lines += ["", f"## `{title}`", "", *_section(title, block, Key(block).help)]
    return "\n".join(lines) + "\n"


def _tasks() -> Iterator[str]:
    """The keys of a task's entry, for each kind."""
    for kind in tasks():
        task = Task.classes[kind]
        yield from ("", f"### `evaluate.tasks.<name>` with `task: {kind}`", "", _sentence(task.help))
        yield "Figures: " + "; ".join(f"`{figure}`, {help}" for figure, (help, *_) in task.metrics.items()) + "."
        yield ""
        yield from _table(keys(task.Settings))


def _section(name: str, block: Any, help: str) -> Iterator[str]:
    """A block: the keys that are values in a table, each block in it under a heading."""
    yield _sentence(help)
    own, whole = keys(block) | further(block), keys(Document)
    described = {below for below, key in own.items() if below in whole and key.block is whole[below].block}
    described -= {below for below in described if own[below].block is None or block is Document}
    inner = {below: key for below, key in own.items() if key.block is not None and below not in described}
    if plain := {below: key for below, key in own.items() if below not in inner and below not in described}:
        yield ""
        yield from _table(plain)
    if described:
        yield ""
        yield "And the blocks " + ", ".join(f"`{below}`" for below in own if below in described) + ", as above."
    for below, key in inner.items():
        if name in ("translators.<name>",) and below == "train":
            continue
        yield from ("", f"### `{name}.{below}`", "")
        yield from _section(f"{name}.{below}", key.block, key.help)


def _table(settings: Mapping[str, Key]) -> Iterator[str]:
    others = [recipe for recipe in RECIPES[1:] if any(recipe in key.recipes for key in settings.values())]
    yield f"| {' | '.join(['key', 'default', *others, 'allowed', 'what it does'])} |"
    yield "|" + " --- |" * (4 + len(others))
    for name, key in settings.items():
        recipes = [_of_recipe(key, one) for one in others]
        default = _code(key.default) if key.has_default else ""
        cells = [f"`{name}`", default, *recipes, key.allowed, _prose(key.help)]
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in cells)} |"


def _of_recipe(key: Key, recipe: str) -> str:
    return _code(key.recipes[recipe]) + "\\*" * (recipe in key.unstated) if recipe in key.recipes else ""


def _sentence(text: str) -> str:
    first = text.partition(" ")[0]
    return f"{first.capitalize() if first.islower() else first}{_prose(text[len(first) :])}." if text else ""


def _prose(text: str) -> str:
    """Format help in Markdown: escape ``<model>`` outside code, so that it is not a tag."""
    parts = text.split("`")
    return "`".join([part.replace("<", "\\<") if place % 2 == 0 else part for place, part in enumerate(parts)])


def _code(value: Any) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`"
