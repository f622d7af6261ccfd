"""Check the targets of a run's command line before Snakemake builds its graph.

An error in a rule's input function takes seconds and comes with a page of context; these errors come first, in one
line. The rules check targets that only other targets need.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from psp.config.blocks.evaluation import SEMEVAL
from psp.config.config import RESERVED, Config
from psp.config.downloads import FOLDER as DOWNLOADS
from psp.config.model import ModelEntry
from psp.config.translator_entries import FOLDER
from psp.core import user_code
from psp.core.errors import ConfigError
from psp.models.registry import missing_encoder

#: The folder of results, whose files the workflow makes.
_MADE = "results/"


def under_results(arguments: Iterable[str]) -> list[tuple[str, str]]:
    """The targets among a command line's arguments, sorted: the folder under results/, and the path in it."""
    matches = (re.fullmatch(r"results/([^/]+)/(.+)", argument) for argument in arguments)
    return sorted((match[1], match[2]) for match in matches if match)


def models(config: Config, arguments: Iterable[str]) -> list[ModelEntry]:
    """The models with targets among the arguments, or all if there are none.

    Raises:
        ConfigError: there is no such model.
    """
    names = dict.fromkeys(name for name, _ in under_results(arguments)) or config.models
    return [config.model(name) for name in names if name not in RESERVED]


def data_warnings(config: Config, arguments: Iterable[str]) -> Iterator[str]:
    """Warnings about the data, as far as it has been counted, of the models with targets among the arguments."""
    for model in models(config, arguments):
        if not model.of.joins:
            from psp.pairs import data_warnings as data

            yield from data.so_far(
                model.name,
                Path(f"{_MADE}{model.name}/pairs"),
                {part.label: part.filters["warn_share"] for part in model.parts},
                model["mix"]["warn_pairs"],
                near=model["mix"]["near_duplicates"]["enabled"],
            )


def check(config: Config, arguments: Sequence[str]) -> None:
    """Check that the targets can be made.

    Raises:
        ConfigError: a model, translator, task, system or variant has a wrong name; a licence is not allowed; or
            a file that the config names is missing.
    """
    if "results/report.html" in arguments and not config.reported:
        raise ConfigError(
            "results/report.html: compares models, but the config names none; write e.g. "
            f"`report: {{models: [{', '.join(config.models[:2])}]}}`, or ask for one model's, such as "
            f"results/{config.models[0]}/report.html"
        )
    for name, file in under_results(arguments):
        if name == FOLDER:
            _check_translator(config, *file.partition("/")[::2])
        if name not in RESERVED:
            _check_model(config, name, file)


def _check_model(config: Config, name: str, file: str) -> None:
    model = config.cleared(name)
    of = model.of
    if of.there_is and not of.there_is.match(file):
        raise ConfigError(f"results/{name}/{file}: {name} {of.refusal(model)}")
    check_files(config, model)
    for needed in config.downloads(model):
        config.remote(needed)  # rejects a mirror with a wrong placeholder
    for part in (*model.parts, *model.files):
        if part.filters["custom"]:
            user_code.fingerprint(part.filters["custom"], "filters.custom")  # rejects a missing module
    place = f"models.{name}"
    if file.startswith("lexicon."):
        config.of_lexicon(name)
    if file.startswith("stats."):
        block = model["stats"]
        keys = {"labels": block["labels"], "idf_from": block["idf_from"].values()}
        _check_there((f"{place}.stats.{key}", path) for key in keys for path in keys[key])
    if match := re.match(r"systems/([^/]+)/", file):
        config.system(name, match[1])
    scored = re.findall(r"^(?:systems/[^/]+/)?tasks/([^/]+)\.(?:json|safetensors)$", file)
    for task in model["compare"]["tasks"] if file == "compare.json" else scored:
        for needed_file in config.task(name, task, DOWNLOADS).files():
            if not needed_file.is_file() and not str(needed_file).startswith(_MADE):
                raise _absent(str(needed_file), f"{place}.evaluate.tasks.{task} needs")
    if match := re.match(r"variants/([^/]+)/", file):
        config.variant(name, match[1])


def _check_translator(config: Config, name: str, file: str) -> None:
    translator = config.cleared_translator(name)
    if translator.data is None:
        raise ConfigError(
            f"results/{FOLDER}/{name}/{file}: {name} is there already, and not trained; ask for a model of its pairs"
        )
    of = translator.data.of
    if of.there_is and not of.there_is.match(file):
        raise ConfigError(f"results/{FOLDER}/{name}/{file}: {of.refusal(translator.data)}")
    place = f"{FOLDER}.{name}"
    if absent := config.absent(translator.data):
        raise _absent(", ".join(absent), f"{place}.corpora names")
    own = translator.train["sentencepiece"]
    if own and not own.startswith(_MADE) and not Path(own).is_file():
        raise ConfigError(f"{own}: no such file, but {place}.train.sentencepiece names it; correct its path")
    _check_offline(config, translator.data, f"translator {name}")


def check_files(config: Config, model: ModelEntry) -> None:
    """Check that the files that a model's config names exist, and, offline, all its downloads.

    Raises:
        ConfigError: some are missing.
    """
    place = f"models.{model.name}"
    _check_braces(model, place)
    if absent := config.absent(model):
        raise _absent(", ".join(absent), f"{place}.corpora names")
    if refused := model.of.absent(model):
        raise ConfigError(refused)
    _check_there(_test_sets(model, place))
    _check_translators(config, model, place)
    for block, key in (("teacher", "encoder"), ("train", "init_encoder")):
        if missing := missing_encoder(model[block][key]):
            raise ConfigError(f"{missing}, but {place}.{block}.{key} names it; install it, or correct its path")
    _check_offline(config, model, f"model {model.name}")


def _check_braces(model: ModelEntry, place: str) -> None:
    """Check that no path of the user's looks like a wildcard, for which Snakemake has no escape."""
    paths = [(f"{place}.corpora", path) for part in model.files for path in part.paths]
    paths += [(f"{place}.corpora", text) for part in model.files for _, text in _texts(part.filters)]
    paths += [(f"{place}{key}", text) for key, text in _texts(model.settings)]
    for key, path in paths:
        if match := re.search(r"(?<!\$)\{\s*\w[^{}]*\}", path):  # ${VARIABLE} is no part of the path
            plain = re.sub(r"[{}]", "_", path)
            raise ConfigError(
                f"{key}: {path}: Snakemake takes {match[0]} in a path for a wildcard; rename the file, e.g. "
                f"`mv {shlex.quote(path)} {shlex.quote(plain)}`"
            )


def _texts(value: Any, key: str = "") -> Iterator[tuple[str, str]]:
    """The texts in a block, some of which are paths, each after its dotted key."""
    if isinstance(value, str):
        yield key, value
    elif isinstance(value, Mapping):
        for name, below in value.items():
            yield from _texts(below, f"{key}.{name}")
    elif isinstance(value, list | tuple):
        for below in value:
            yield from _texts(below, key)


def _test_sets(model: ModelEntry, place: str) -> Iterator[tuple[str, str]]:
    """The user's files that a model is scored on, each after the key that names it."""
    for key, path in model["evaluate"]["files"].items():
        yield f"{place}.evaluate.files.{key}", path
    if model["development"]["sts"] not in (None, SEMEVAL):
        yield f"{place}.development.sts", model["development"]["sts"]
    for name, entry in model["development"]["sets"].items():
        from psp.evaluation import judged

        of_set = f"{place}.development.sets.{name}"
        for number, file in enumerate(judged.files(entry, of_set), start=1):
            yield f"{of_set}.path ({number})", str(file)


def _check_translators(config: Config, model: ModelEntry, place: str) -> None:
    """Check the translators of a model's corpora, and the encoders that score their output."""
    for part in model.parts:
        if not part.translation:
            continue
        translator = config.cleared_translator(part.translation["translator"])
        needs = f"{FOLDER}.{translator.name}"
        if translator.data is not None and (absent := config.absent(translator.data)):
            raise _absent(", ".join(absent), f"{needs}.corpora names")
        for file in translator.files if translator.data is None else ():
            if not Path(file).is_file():
                raise _absent(file, f"{needs} needs")
        if missing := missing_encoder(part.translation["encoder"]):
            raise ConfigError(f"{missing}, but {place}.corpora: {part.corpus} is scored by it; correct its path")


def _check_offline(config: Config, model: ModelEntry, called: str) -> None:
    missing = config.missing(model, DOWNLOADS) if config.offline else []
    if missing:
        raise ConfigError(
            f"offline, and {len(missing)} file(s) of {called} are missing: "
            + ", ".join(f"{DOWNLOADS}/{name}" for name in missing)
            + "; add them or run once without offline"
        )


def _check_there(files: Iterable[tuple[str, str]]) -> None:
    for key, path in files:
        if path and not path.startswith(_MADE) and not Path(path).is_file():
            raise _absent(path, f"{key} names")


def _absent(path: str, why: str) -> ConfigError:
    return ConfigError(f"{path}: no such file, but {why} it; add it or correct its path")
