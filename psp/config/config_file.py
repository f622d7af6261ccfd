"""Read config files strictly, and make the checks that are impossible once they are merged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from psp.config.blocks.overlay import merge
from psp.core.errors import ConfigError

#: PyYAML's safe loader, in C if available: a tenth of the time, and each start of Snakemake reads all configs.
_Loader: type = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Twice(Exception):
    """A key given twice in a mapping: the key, and both lines (unknown in JSON)."""


#: Values of a config file, aliases written out.
_MOST = 1_000_000
_DEEPEST = 100


def read_yaml(path: Path | str) -> dict[str, Any]:
    """Read a mapping from a YAML or JSON file.

    Raises:
        ConfigError: the file is missing, is not YAML, is not a mapping or gives a key twice.
    """
    try:
        value = _parse(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}; name a config file that exists") from None
    # Besides YAML's own: text that is not UTF-8, a number of 5,000 digits, an invalid date, 100,000 brackets.
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())[:300]}") from None
    except _Twice as error:
        key, *lines = error.args
        where = f", on lines {lines[0]} and {lines[1]}" if lines else ""
        raise ConfigError(
            f"{path}: {key} is given twice in one mapping{where}; only the last would count, so merge the two"
        ) from None
    if not isinstance(value or {}, Mapping):
        raise ConfigError(f"{path}: is not a mapping of keys to values")
    return dict(value or {})


def _parse(text: str) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_unique)  # as Snakemake does: JSON first
    except (ValueError, RecursionError):
        _check_depth(text)
        loader = _Loader(text)
        try:
            node = loader.get_single_node()  # as written, before `<<` is merged
            if node is None:
                return None
            _check(node, {})
            return loader.construct_document(node)
        finally:
            loader.dispose()


def _check_depth(text: str) -> None:
    """Check that values are not nested too deeply: PyYAML's compiled loader would end the process."""
    depth = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > _DEEPEST:
            raise ValueError(f"values nested more than {_DEEPEST} deep")


def _check(node: yaml.Node, known: dict[int, int | None]) -> int:
    """Count the nodes of a document, those behind aliases each time.

    Raises:
        ValueError: an alias stands for itself, or aliases of aliases for more than a config can hold.
        _Twice: a key is given twice, of which YAML's loaders silently take the last.
    """
    if id(node) in known:
        count = known[id(node)]
        if count is None:
            raise ValueError("an alias stands for a value that holds it")
        return count
    known[id(node)] = None
    inside: list[yaml.Node] = []
    if isinstance(node, yaml.SequenceNode):
        inside = node.value
    elif isinstance(node, yaml.MappingNode):
        inside = [part for pair in node.value for part in pair]
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                line = key.start_mark.line + 1
                if (written := (key.tag, key.value)) in lines:
                    raise _Twice(key.value, lines[written], line)
                lines[written] = line
    total = 1 + sum(_check(part, known) for part in inside)
    if total > _MOST:
        raise ValueError(f"aliases that stand for more than {_MOST:,} values")
    known[id(node)] = total
    return total


def _unique(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key, value in pairs:
        if key in mapping:
            raise _Twice(key)
        mapping[key] = value
    return mapping


def look(files: Sequence[Path | str]) -> list[str]:
    """Check config files before they are merged.

    Args:
        files: each overrides those before it; the first is the workflow's own.

    Returns:
        A line for each file that adds to models of earlier files, with what it inherits.

    Raises:
        ConfigError: as :func:`read_yaml`, or a file is a target that follows ``--configfile`` without ``--``.
    """
    names = [_shown(Path(file)) for file in files]
    return [*adding({name: _read_config(name) for name in names})]


def _read_config(file: str) -> dict[str, Any]:
    raw = read_yaml(file)
    if file.endswith(".json") and ("format" in raw or file.startswith("results/")):
        raise ConfigError(
            f"{file} is a result, but it was given as a config file: --configfile takes everything up to the "
            "next option; put -- before the targets, as in `--configfile mine.yaml -- results/fr/eval.json`"
        )
    return raw


def adding(files: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Yield a line for each file that adds to models of earlier files, with the keys that it inherits."""
    models: dict[str, Any] = {}
    for file, raw in files.items():
        written = raw.get("models")
        written = written if isinstance(written, Mapping) else {}
        own = {name: entry for name, entry in written.items() if isinstance(entry, Mapping)}
        taken: dict[str, list[str]] = {}  # names by what they inherit
        for name, entry in own.items():
            if keys := ", ".join(_not_in(models.get(name, {}), entry)):
                taken.setdefault(keys, []).append(str(name))
        if taken:
            told = "; ".join(f"{', '.join(names)} ({keys})" for keys, names in taken.items())
            yield (
                f"{file} extends existing models, which provide what it leaves out: {told}; "
                "for a separate model, use another name"
            )
        models |= {name: merge(models.get(name, {}), entry) for name, entry in own.items()}


def _not_in(below: Mapping[str, Any], entry: Mapping[str, Any], place: str = "") -> Iterator[str]:
    """Yield the dotted keys of ``below`` that ``entry`` does not replace."""
    for key, value in below.items():
        if isinstance(value, Mapping) and isinstance(entry.get(key, {}), Mapping):
            yield from _not_in(value, entry.get(key, {}), f"{place}{key}.")
        elif key not in entry:
            yield f"{place}{key}"


def _shown(file: Path) -> str:
    """A path as a person would write it from the working directory."""
    return str(file.relative_to(Path.cwd())) if file.is_relative_to(Path.cwd()) else str(file)
