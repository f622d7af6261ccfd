"""``psp inspect``: look at a model's corpora before training."""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.cli.project import models, named, read_config
from psp.core.errors import ConfigError, DataError, DownloadError

if TYPE_CHECKING:
    from psp.config.config import Config
    from psp.config.model import ModelEntry
    from psp.pairs.inspect import InspectReport


def add_inspect(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp inspect``."""
    added.add_argument("--json", action="store_true", help="print the whole report as JSON instead of its summary")
    models(added)


def run_inspect(options: argparse.Namespace) -> None:
    """Run ``psp inspect``, and write a page for each model.

    Raises:
        ConfigError: no such model, or one without corpora.
        DataError, DownloadError: a corpus cannot be read or downloaded.
    """
    names = named(options)
    config = read_config(options)
    with contextlib.chdir(options.folder):
        for number, name in enumerate(names):
            for notice in config.notices(config.model(name)):
                logging.getLogger("psp").warning("%s", notice)
            report = _inspected(config, name, options.configfile)
            page = Path(f"results/{name}/inspect.html")
            from psp.report import inspect

            inspect.write(report, page)
            if options.json:
                print(json.dumps(report, ensure_ascii=False, indent=1))
            else:
                print("\n" * (number > 0) + inspect.as_text(report), end="")
                print(f"\nExamples of what each filter drops: {options.folder / page}")


def _inspected(config: Config, name: str, files: Sequence[str]) -> InspectReport:
    from psp.config.downloads import FOLDER
    from psp.corpora import open_corpus
    from psp.pairs.inspect import findings, inspect_corpus, runnable
    from psp.text.segment import Segmenter

    model = config.cleared(name)
    if not model.files:
        raise ConfigError(f"models.{name}: has no corpora of its own; name a model that has")
    for file in filter(None, (part.download for part in model.files)):
        # Mirrors under results/ are files that the workflow makes, such as the demo's.
        here = [Path(mirror) for mirror in config.remote(file).mirrors]
        if here and not any(path.parts[0] != "results" or path.exists() for path in [*here, Path(FOLDER, file)]):
            options = f"--configfile {' '.join(files)} " if files else ""
            raise DataError(f"the workflow makes it first: snakemake --cores 2 {options}-- {here[0]}", here[0])
    _download(config, model)
    lid = Path(FOLDER, config.lid())
    segmenters = {
        language: Segmenter(how["segmenter"], cut_all=how["cut_all"])
        for language, how in model["segment"].items()
        if language in model.languages
    }
    (tests, absent), notes = _tests(config, model), dict[str, None]()
    corpora = []
    for part in model.files:
        filters, changes = runnable(part.filters, part.languages, lid.is_file())
        notes |= dict.fromkeys(changes)
        wanted = [pair for kind in filters["decontaminate"]["sets"] for pair in tests.get(kind, [])]
        rows = open_corpus(
            part.kind, part.path or f"{FOLDER}/{part.download}", part.opus, part.names,
            max_bad_rows=filters["max_bad_rows"],
        )  # fmt: skip
        corpora.append(
            inspect_corpus(
                rows,
                label=part.label,
                languages=part.languages,
                filters=filters,
                resources={"lid": lid, "tests": wanted},
                segmenters=segmenters,
                is_text=part.is_text,
                cap=part.cap,
                seed=model.seed,
            )
        )
    if absent:
        notes[f"sentences of {', '.join(sorted(absent))} were not looked for: not downloaded yet"] = None
    found = findings(corpora, name, model["mix"]["warn_pairs"])
    return {"format": 1, "model": name, "corpora": corpora, "findings": found, "notes": list(notes)}


def _download(config: Config, model: ModelEntry) -> None:
    """Fetch the corpora; of the language identifier and the test sets what is on this machine."""
    from psp.config.downloads import FOLDER
    from psp.corpora.download import fetch

    corpora = {part.download for part in model.files}
    for name in config.downloads(model):
        remote = config.remote(name)
        here = tuple(mirror for mirror in remote.mirrors if not mirror.startswith(("http://", "https://")))
        if name not in corpora and (not here or name.startswith("vectors/")):
            continue
        try:
            fetch(
                remote if name in corpora else dataclasses.replace(remote, mirrors=here),
                Path(FOLDER, name),
                Path(FOLDER, f"{name}.json"),
                offline=config.offline,
                retries=config.sources["retries"],
                timeout=config.sources["timeout"],
            )
        except DownloadError:
            if name in corpora:
                raise


def _tests(config: Config, model: ModelEntry) -> tuple[dict[str, list[tuple[str, str, str]]], set[str]]:
    """The sentences of the sets that the corpora are searched for, by kind as the filter ``decontaminate`` names them.

    Returns:
        The name of the set and both sentences of each pair; and the kinds whose files are not downloaded.
    """
    from psp.config.downloads import FOLDER
    from psp.evaluation.scored import scored

    sources, chosen, archive = config.test_sources(model, FOLDER), model["development"], config.sts_development(model)
    development = {"development": chosen["sts"], "archive": archive and f"{FOLDER}/{archive}", "judged": chosen["sets"]}
    sets: dict[str, dict[str, Any]] = {
        "sts": {"sts": sources.sts},
        "tatoeba": {"tatoeba": sources.tatoeba},
        "files": {"files": sources.files},
        "development": development,
        "tasks": {"tasks": model["evaluate"]["tasks"]},
    }
    absent = {name.partition("/")[0] for name in config.downloads(model) if not Path(FOLDER, name).exists()}
    absent |= {"development"} if archive and "sts" in absent else set()
    wanted = {kind for part in model.files for kind in part.filters["decontaminate"]["sets"]}
    found = {kind: list(scored({"languages": model.languages, **sets[kind]})) for kind in wanted - absent}
    return found, wanted & absent
