"""Commands of the workflow: its folder, the config of a run, and what is made of it."""

from __future__ import annotations

import argparse
import importlib.util
import logging
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from psp.cli import positive
from psp.core.errors import ConfigError, DataError, PspError
from psp.core.workflow import CONFIG, home, is_home

if TYPE_CHECKING:
    from psp.config.config import Config


def project(command: argparse.ArgumentParser) -> None:
    """Add ``--folder`` and ``--configfile``."""
    command.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="as for snakemake")
    command.add_argument("--folder", default=".", type=Path, help="the folder with results/ (default: here)")


def models(command: argparse.ArgumentParser) -> None:
    """Add ``MODEL...``, and what :func:`project` adds."""
    command.add_argument("models", nargs="*", metavar="MODEL", help="models of the config, such as fr")
    project(command)
    command.set_defaults(usage_error=command.error)


def named(options: argparse.Namespace) -> list[str]:
    """The models of the command line, which argparse takes for config files if they follow some."""
    while options.configfile and not options.configfile[-1].endswith((".yaml", ".yml", ".json")):
        if Path(options.configfile[-1]).is_file():
            break
        options.models.insert(0, options.configfile.pop())
    if not options.models:
        options.usage_error("the following arguments are required: MODEL")
    return list(options.models)


def workflow_of(folder: Path) -> Path:
    """The folder with the Snakefile of a run: its own, if it is a checkout, or else that of this installation."""
    return folder if is_home(folder) else home()


def read_config(options: argparse.Namespace) -> Config:
    """Load the workflow's config, overlaid with the command line's config files; log notes about it.

    Raises:
        ConfigError: the config is wrong.
    """
    from psp.config.config import Config
    from psp.config.config_file import look

    files = [workflow_of(options.folder) / CONFIG, *options.configfile]
    for note in look(files):
        logging.getLogger("psp").warning("note: %s", note)
    return Config.load(files)


def snakemake(folder: Path, targets: Sequence[str], configs: Sequence[str], cores: int) -> int:
    """Run Snakemake in a folder, and return its status; what it says goes to standard error.

    Ctrl-C and SIGTERM reach it and its jobs once, and it then ends by itself, without a lock left behind.

    Raises:
        PspError: it is not installed.
        SystemExit: it was stopped so.
    """
    if importlib.util.find_spec("snakemake") is None:
        raise PspError("this command runs Snakemake: pip install 'paraphrastic[workflow]'")
    snakefile = str((workflow_of(folder) / "Snakefile").absolute())
    files = ["--configfile", *configs] if configs else []
    # What a stopped run left goes on, or is made again.
    options = ["-s", snakefile, "--cores", str(cores), "--rerun-incomplete", *files]
    command = [sys.executable, "-m", "snakemake", *options, "--", *targets]
    # A group of its own: a terminal's Ctrl-C comes here alone, and is passed on.
    process = subprocess.Popen(command, cwd=folder, stdout=sys.stderr, process_group=0)
    stopped: list[int] = []

    def pass_on(number: int, frame: object) -> None:
        stopped.append(number)
        os.killpg(process.pid, number)

    before = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        status = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if stopped:
        raise SystemExit(128 + stopped[0])
    return status


#: In the folder that ``--out`` names.
NAME = "config.yaml"
_HEADER = """\
# {command}
# Edit this file and give the same command again: what the change affects is made again. `psp settings` has all keys.
# In this folder: snakemake -s "$(psp workflow)" --cores 2 --configfile {name} -- results/{model}/eval.json
"""


def add_train(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp train``."""
    added.add_argument(
        "file", type=Path, metavar="FILE", help="TSV, CSV, TMX, JSON lines or Parquet; may be compressed"
    )
    added.add_argument(
        "--languages",
        required=True,
        nargs="+",
        metavar="LANGUAGE",
        help="of source and target, such as en fr; one for paraphrases",
    )
    added.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="where the config and results/ go")
    added.add_argument("--recipe", metavar="NAME", help="the set of defaults, such as paper (default: psp)")
    added.add_argument("--seed", type=int, metavar="N", help="seed of everything random (default: 1)")
    added.add_argument("--cores", type=positive, metavar="N", help="number of cores (default: all cores)")


def run_train(options: argparse.Namespace) -> None:
    """Run ``psp train``.

    Raises:
        ConfigError: an argument is wrong, or the folder has the config of other arguments.
        DataError: the file is no file of pairs, or the workflow failed; Snakemake has said why.
    """
    out: Path = options.out
    if out.exists() and not out.is_dir():
        raise ConfigError(f"--out {out}: is a file; name a folder")
    config = out / NAME
    if not config.exists():
        _write(config, options)
    elif (written := config.read_text("utf-8").partition("\n")[0]).startswith("# psp train ") and (
        written != f"# {_command(options)}"
    ):
        raise ConfigError(
            f"{config}: is of another command, `{written.removeprefix('# ')}`; edit it and give that again, or name "
            "another --out"
        )
    from psp.cli.results import run_show
    from psp.config.config_file import read_yaml
    from psp.core.machine import usable_cores

    models = read_yaml(config).get("models")
    if not isinstance(models, Mapping) or not models:
        raise ConfigError(f"{config}: has no models; remove it, and the same command writes it again")
    own = [name for name, entry in models.items() if "corpora" in (entry or {})]
    targets = [f"results/{name}/eval.json" for name in models] + [f"results/{name}/data.json" for name in own]
    if snakemake(out, targets, [NAME], options.cores or len(usable_cores())):
        raise DataError("was not made; see the reason above", out / targets[0])
    results = [out / "results" / name for name in models]
    run_show(argparse.Namespace(results=results, quoted=None, all=False, format="text"))
    print(f"\nThe model is in {out / 'results' / next(iter(models)) / 'model'}; to change it, edit {config}")


def _write(config: Path, options: argparse.Namespace) -> None:
    from psp.config.corpus_entries import file_name
    from psp.config.from_file import config_of
    from psp.core.files import atomic_text

    file: Path = options.file
    if len(options.languages) > 2:
        raise ConfigError(f"--languages {' '.join(options.languages)}: write those of source and target, such as en fr")
    if not file.is_file():
        raise DataError("no such file", file)
    name = file_name(options.out.resolve().name)
    text, warnings = config_of(
        file.resolve(), list(dict.fromkeys(options.languages)), name, recipe=options.recipe, seed=options.seed
    )
    options.out.mkdir(parents=True, exist_ok=True)
    with atomic_text(config) as stream:
        stream.write(_HEADER.format(command=_command(options), name=NAME, model=name) + text)
    for warning in warnings:
        logging.getLogger("psp").warning("%s", warning)


def _command(options: argparse.Namespace) -> str:
    """The arguments that a config is written from, as a command."""
    given = [(f"--{key}", getattr(options, key)) for key in ("recipe", "seed")]
    more = [word for option, value in given if value is not None for word in (option, str(value))]
    return shlex.join(["psp", "train", str(options.file.resolve()), "--languages", *options.languages, *more])


def add_languages(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp languages``."""
    added.add_argument("action", choices=["suggest"], help="print the YAML block, or write it to --out")
    added.add_argument("language", metavar="LANGUAGE", help="ISO 639-1 code, such as sw")
    added.add_argument(
        "--with", dest="partner", default="en", metavar="LANGUAGE", help="the paired language (default: en)"
    )
    added.add_argument("--out", type=Path, metavar="FILE", help="the file to write; must not exist")
    project(added)


def run_languages(options: argparse.Namespace) -> None:
    """Run ``psp languages``."""
    config = read_config(options)
    from psp.config.suggest import suggest
    from psp.core.files import atomic_text

    out: Path | None = options.out
    if out is not None and out.exists():
        raise DataError("already exists; name another file, or remove it first", out)
    text = suggest(config, options.language, options.partner)
    if out is None:
        sys.stdout.write(text)
        return
    with atomic_text(out) as file:
        file.write(text)
    print(f"{out}: {text.splitlines()[0].removeprefix('# ')}; review it before you use it")


def add_plan(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp plan``."""
    models(added)


def run_plan(options: argparse.Namespace) -> None:
    """Run ``psp plan``."""
    names = named(options)
    config = read_config(options)
    from psp.config.plan import plan

    for name in names:
        for notice in config.notices(config.model(name)):
            logging.getLogger("psp").warning("%s", notice)
        print(plan(config, name, options.folder / "results/downloads"))


def add_pin(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp pin``."""
    added.add_argument("models", nargs="+", metavar="MODEL", help="a model of the config, such as fr")
    project(added)
    added.add_argument("--check", action="store_true", help="only verify the files against their pins")


def run_pin(options: argparse.Namespace) -> None:
    """Run ``psp pin``."""
    config, downloads = read_config(options), options.folder / "results/downloads"
    from psp.config import pins

    if options.check:
        names = {name for model in options.models for name in config.downloads(config.model(model))}
        wrong = pins.problems(config, sorted(names), downloads)
        for name, problem in wrong.items():
            logging.getLogger("psp").error("%s: %s", downloads / name, problem)
        print(f"{len(names) - len(wrong)} of {len(names)} files match their pins")
        if wrong:
            raise SystemExit(1)
        return
    out = config.raw.get("pins") or "config/pins.yaml"
    pinned = pins.pin(config, options.models, downloads, options.folder / out)
    print(f"{out}: {len(pinned)} files pinned")


def add_workflow(added: argparse.ArgumentParser) -> None:
    """Add the arguments of ``psp workflow``."""


def run_workflow(options: argparse.Namespace) -> None:
    """Run ``psp workflow``."""
    print(home() / "Snakefile")
