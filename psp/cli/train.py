"""``psp train``: from a file of pairs to a model, by the workflow and a config that stays beside the model."""

from __future__ import annotations

import argparse
import logging
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.cli import show
from psp.cli.common import positive
from psp.cli.project import snakemake
from psp.core.errors import ConfigError, DataError

#: In the folder that ``--out`` names.
NAME = "config.yaml"
_HEADER = """\
# {command}
# Edit this file and give the same command again: what the change affects is made again. `psp settings` has all keys.
# In this folder: snakemake -s "$(psp workflow)" --cores 2 --configfile {name} -- results/{model}/eval.json
"""


def add(command: Any) -> None:
    """Add the command's parser."""
    added = command(
        "train",
        run,
        "Train a model on a file of pairs: write its config, FOLDER/config.yaml, and run the workflow on it. A config "
        "that is there already is run as it is.",
    )
    added.add_argument("file", type=Path, metavar="FILE", help="TSV, CSV, TMX, JSON lines or Parquet; may be packed")
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


def run(options: argparse.Namespace) -> None:
    """Run the command.

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
    show.run(argparse.Namespace(results=results, quoted=None, all=False, format="text"))
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
