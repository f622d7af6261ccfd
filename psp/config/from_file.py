"""The config that ``psp train`` writes: a model of one file of pairs, which is made and scored without a network."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from psp.config.blocks.corpora import KINDS, CorpusKind
from psp.config.blocks.filters import SCORES
from psp.config.config import Config
from psp.config.corpus_entries import COMPRESSED
from psp.core.errors import ConfigError, DataError
from psp.core.workflow import CONFIG, home
from psp.corpora import reader
from psp.corpora.rows import BadRow
from psp.text.languages import SCORED_LABELS, lid_label

#: The kinds of one file of pairs; a file's ending says which it is.
OF_FILES = [KINDS[kind] for kind in ("local", "csv", "jsonl", "tmx", "parquet")]
#: Pairs held out where there is no STS set to choose weights by, whatever the recipe has: the psp recipe's number.
HELDOUT = 2000
#: The test sets, each with its place below the folder that the environment variable PSP_DATA names.
SETS: Mapping[str, tuple[str, str, str]] = {
    "sts": ("STS", "eval/sts", "/"),
    "tatoeba": ("Tatoeba", "eval/tatoeba", "/{version}/{file}"),
}


def config_of(
    file: Path, languages: Sequence[str], name: str, *, recipe: str | None = None, seed: int | None = None
) -> tuple[str, list[str]]:
    """The config of a model of a file.

    Args:
        file: TSV, CSV, TMX, JSON lines or Parquet, plain or compressed.
        languages: of source and target; one for paraphrases.
        name: the model's.
        recipe, seed: None for the config's own.

    Returns:
        YAML; and warnings, of what the config leaves out since it is not here.

    Raises:
        ConfigError: a language or recipe is wrong, or the file's ending names no kind of file.
        DataError: the file is missing, or its first row is no pair.
    """
    kind = kind_of(file)
    entry: dict[str, Any] = {"languages": list(languages), "corpora": [{kind.item[0]: str(file)}]}
    entry |= {key: value for key, value in (("recipe", recipe), ("seed", seed)) if value is not None}
    entry["development"] = {"sts": None, "heldout": HELDOUT}
    columns = [None, list(languages)] if "columns" in kind.item and len(languages) == 2 else [None]
    problems = []
    for names in columns:
        if names is not None:
            entry["corpora"][0]["columns"] = names
        config = Config.load([home() / CONFIG], {"models": {name: entry}})
        if (problem := _problem(config, name)) is None:
            break
        problems.append(problem)
    else:
        hint = f" (psp train takes source and target, or {' and '.join(languages)})" if len(columns) > 1 else ""
        raise DataError(f"{problems[0]}{hint}", file)
    model, warnings, sources = config.model(name), list[str](), dict[str, Any]()
    unknown = [language for language in model.languages if lid_label(language) not in SCORED_LABELS]
    if unknown:
        warnings.append(f"no package identifies {', '.join(unknown)}: the filter of languages is off")
        entry["filters"] = {"language": {"enabled": False}}
    else:
        entry["filters"] = {"language": {"method": "evidence", "identifier": SCORES}}
    missing = []
    for key, (called, folder, rest) in SETS.items():
        if not (wanted := [one for one in config.downloads(model) if one.startswith(f"{key}/")]):
            continue
        there = Path(os.environ.get("PSP_DATA", ""), folder).absolute()
        files = [there] if key == "sts" else [there / one.removeprefix(f"{key}/") for one in wanted]
        if "PSP_DATA" in os.environ and all(map(Path.exists, files)):
            sources[key] = {"mirrors": [f"file://{there}{rest}"]}
        else:
            entry.setdefault("evaluate", {})[key] = False
            missing.append(called)
    if "sts" in sources:  # the recipe's own choice of weights
        del entry["development"]
    if missing:
        warnings.append(
            f"{' and '.join(missing)}: not scored, and their sentences not kept out of training, for PSP_DATA names no "
            "folder with these test sets; held-out pairs are scored"
        )
    own = {"models": {name: entry}, **({"sources": sources} if sources else {})}
    Config.load([home() / CONFIG], own)
    return yaml.safe_dump(own, sort_keys=False, default_flow_style=None, allow_unicode=True, width=110), warnings


def kind_of(file: Path) -> CorpusKind:
    """The kind of corpus that a file's ending names.

    Raises:
        ConfigError: it names none.
    """
    plain = re.sub(rf"\.({'|'.join(COMPRESSED)})$", "", file.name.lower())
    for kind in OF_FILES:
        if plain.endswith(tuple(f".{ending}" for ending in kind.endings)):
            return kind
    known = ", ".join(f".{ending}" for kind in OF_FILES for ending in kind.endings)
    raise ConfigError(f"{file}: its name ends in none of {known} (or these and .{', .'.join(COMPRESSED)})")


def _problem(config: Config, name: str) -> str | None:
    """What is wrong with the first row of a model's file."""
    (part,) = config.model(name).parts
    try:
        first = next(iter(reader(part.kind).read(str(part.path), part.corpus, part.names)), None)
    except DataError as error:
        return str(error).removeprefix(f"{part.path}: ").removeprefix(f"{part.path}, ")
    if first is None:
        return "holds no pairs"
    return f"its first row is no pair: {first.problem}" if isinstance(first, BadRow) else None
