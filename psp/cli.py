"""The command ``psp``: what is done beside the workflow.

``psp plan``, ``psp pin`` and ``psp languages`` read the config; ``psp watch`` follows a run; ``psp show``,
``psp embed`` and ``psp score`` read what a run made; ``psp train`` trains a model by itself; ``psp import-checkpoint``
and ``psp export`` take models over from the published code, and to other libraries.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from psp import __version__
from psp.commands import embed, info, lines, mine, printing, quantize, score, search, serve, show, watch
from psp.errors import ConfigError, DataError
from psp.exports import FORMS
from psp.logs import job

#: Commands with a file of their own under psp/commands, in the order of the help.
COMMANDS = (show, watch, info, embed, score, search, mine, quantize, serve)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; bad input ends it with one line and status 1."""
    with printing():  # --help too
        options = _parser().parse_args(arguments)
    with job(level=options.level), printing():
        options.run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="psp", description="Sentence embeddings from parallel text.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Any, what: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=what, description=what)
        added.set_defaults(run=run, level=logging.WARNING)
        return added

    for name, run, what in (
        ("plan", _plan, "Say what a model will download, and the disk, memory and time it will take."),
        ("pin", _pin, "Write down size and SHA-256 of what models have downloaded."),
    ):
        added = command(name, run, what)
        added.add_argument("models", nargs="+", metavar="MODEL", help="a model of the config, such as fr")
        _project(added)
        if name == "pin":
            added.add_argument("--check", action="store_true", help="only compare the files with their pins")
    added = command("languages", _languages, "Suggest the config for a new language: the corpora that OPUS has.")
    added.add_argument("action", choices=["suggest"], help="print the YAML block, or write it to --out")
    added.add_argument("language", metavar="LANGUAGE", help="ISO 639-1 code, such as sw")
    added.add_argument("--with", dest="partner", default="en", metavar="LANGUAGE", help="the other one (default: en)")
    added.add_argument("--out", type=Path, metavar="FILE", help="write it there, whole or not at all; must not exist")
    _project(added)
    added = command("train", _train, "Train a model on pairs that are ready for it, without the workflow.")
    added.set_defaults(level=logging.INFO)  # it takes hours: where it is no terminal that shows a bar, lines tell
    added.add_argument(
        "pairs", type=Path, metavar="PAIRS", help="a store.h5, or text: source, tab, target on each line"
    )
    added.add_argument("--sentencepiece", required=True, type=Path, metavar="MODEL", help="the sentencepiece model")
    added.add_argument("--out", required=True, type=Path, metavar="FOLDER", help="the model's folder")
    added.add_argument("--train-dir", type=Path, metavar="FOLDER", help="metrics go there (default: <out>-train)")
    added.add_argument("--languages", help="of text: en,fr, as the columns are, or en for paraphrases; a store knows")
    added.add_argument("--threads", type=int, default=os.cpu_count() or 1, help="default: all cores")
    added.add_argument(
        "--set", nargs="+", action="extend", default=[], metavar="KEY=VALUE", help="as in the config's train block"
    )
    added.add_argument(
        "--development",
        type=Path,
        metavar="FILE",
        help="held-out pairs to be scored on after each epoch; with --set select=best the best is kept",
    )
    added.add_argument(
        "--checkpoint",
        nargs="+",
        action="extend",
        default=[],
        metavar="KEY=VALUE",
        help="minutes, steps or keep, as in the config's train.checkpoint (default: every 10 minutes, two are kept)",
    )
    added.add_argument("--force", action="store_true", help="replace the finished model and metrics that are there")
    for module in COMMANDS:
        module.add(command)
    added = command("import-checkpoint", _import_checkpoint, "Make a model of a checkpoint of the published code.")
    added.add_argument("checkpoint", type=Path, metavar="MODEL.pt", help="the torch pickle; no code in it is run")
    added.add_argument("sentencepiece", type=Path, metavar="SP.model", help="its sentencepiece model")
    added.add_argument("out", type=Path, metavar="FOLDER", help="the model folder to write; must not exist")
    added = command("export", _export, "Write a model in a form that another library loads.")
    added.formatter_class = argparse.RawDescriptionHelpFormatter
    added.epilog = "forms:\n" + "\n".join(f"  {form}: {loads}" for form, loads in FORMS.items())
    added.add_argument("form", choices=list(FORMS), metavar="FORM", help="one of those below")
    added.add_argument("model", type=Path, metavar="MODEL", help="a model folder, such as results/fr/model")
    added.add_argument("out", type=Path, metavar="OUT", help="a folder (of word2vec a file) that does not exist")
    added.add_argument(
        "--check", type=Path, metavar="FILE", help="sentences, one a line, to compare its tokenizer on (default: ours)"
    )
    return parser


def _project(command: argparse.ArgumentParser) -> None:
    command.add_argument("--configfile", nargs="+", default=[], metavar="FILE", help="as for snakemake")
    command.add_argument("--folder", default=".", type=Path, help="where the Snakefile is (default: here)")


def _config(options: argparse.Namespace) -> Any:
    from psp.config import Config
    from psp.configfile import look

    folder: Path = options.folder
    files = [folder / "config/config.yaml", *options.configfile]
    for note in look(files):
        logging.getLogger("psp").warning("%s", note)
    return Config.load(files, folder / "config/schema.yaml")


def _plan(options: argparse.Namespace) -> None:
    from psp.plan import plan

    config = _config(options)
    for name in options.models:
        for notice in config.notices(config.model(name)):
            logging.getLogger("psp").warning("%s", notice)
        print(plan(config, name, options.folder / "results/downloads"))


def _pin(options: argparse.Namespace) -> None:
    from psp import pins

    config, downloads = _config(options), options.folder / "results/downloads"
    if options.check:
        names = {name for model in options.models for name in config.downloads(config.model(model))}
        wrong = pins.problems(config, sorted(names), downloads)
        for name, problem in wrong.items():
            logging.getLogger("psp").error("%s: %s", downloads / name, problem)
        print(f"{len(names) - len(wrong)} of {len(names)} files are here and as pinned")
        if wrong:
            raise SystemExit(1)
        return
    out = config.raw.get("pins") or "config/pins.yaml"
    found = pins.pin(config, options.models, downloads, options.folder / out)
    print(f"{len(found)} files are pinned in {out}")


def _languages(options: argparse.Namespace) -> None:
    from psp.files import atomic_text
    from psp.suggest import suggest

    out: Path | None = options.out
    if out is not None and out.exists():
        raise DataError("is there already; name another file, or remove it first", out)
    text = suggest(_config(options), options.language, options.partner)
    if out is None:
        sys.stdout.write(text)
        return
    with atomic_text(out) as file:
        file.write(text)
    print(f"{out}: {text.splitlines()[0].removeprefix('# ')}; read it before you run it")


def _train(options: argparse.Namespace) -> None:
    from psp.training.finished import check_unfinished
    from psp.training.settings import TrainSettings, When

    settings = TrainSettings.from_mapping(_settings("--set", options.set))  # before the slow imports
    checkpoints = When.from_mapping(_settings("--checkpoint", options.checkpoint))
    out: Path = options.out.absolute()
    train_dir = options.train_dir or out.with_name(f"{out.name}-train")
    for name, folder in (("--out", out), ("--train-dir", train_dir)):
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{name} {folder}: a file is there; name a folder")
    if not options.force:
        check_unfinished(out, train_dir)

    from psp.evaluation.development import Development
    from psp.fingerprint import fingerprint
    from psp.training.loop import train

    development = Development.load(None, options.development) if options.development else None
    report = train(
        options.pairs,
        options.sentencepiece,
        out,
        train_dir,
        settings,
        development,
        threads=options.threads,
        model_config={
            "languages": _train_languages(options.pairs, options.languages),
            "lower_case": _lower_case(options.sentencepiece),
            "segment": {},
        },
        checkpoints=checkpoints,
        # With other code or other development data a stopped training does not go on: it would be neither's.
        identity={
            "code": fingerprint("psp.training", "psp.evaluation.development"),
            "development data": "" if development is None else development.sha256,
        },
        replace=options.force,
    )
    best = report["best"]
    score = "" if best is None else f", development score {best['score']:.2f} after {best['pairs']:,} pairs"
    print(f"{options.out}: a model trained on {report['pairs_seen']:,} pairs{score}; metrics are in {train_dir}")


def _settings(option: str, assignments: list[str]) -> dict[str, Any]:
    """``key=value`` as the config would hold it; what is not JSON is a string."""
    settings = {}
    for assignment in assignments:
        key, equals, value = assignment.partition("=")
        if not (key and equals):
            raise ConfigError(f"{option} {assignment}: write key=value, such as epochs=5")
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            settings[key] = value
    return settings


def _train_languages(pairs: Path, asked: str | None) -> list[str]:
    from psp.store import Store
    from psp.training.text import is_store

    languages = asked.split(",") if asked else []
    if not all(language.isalpha() and language.islower() for language in languages):
        raise ConfigError(f"--languages {asked}: write ISO 639-1 codes with a comma between them, such as en,fr")
    if not is_store(pairs):
        if not languages:
            raise ConfigError(
                f"{pairs} is text: write --languages en,fr, the source's first, or --languages en for paraphrases"
            )
        return languages
    with Store(pairs) as store:
        if asked and languages != store.languages:
            raise ConfigError(f"--languages {asked}: {pairs} holds {','.join(store.languages)}; leave it out")
        return store.languages


def _lower_case(sentencepiece_model: Path) -> bool:
    """Whether the model shall lower-case what it embeds: its pieces know no capital, so the text it saw had none."""
    from psp.subword import load_sentencepiece

    processor = load_sentencepiece(sentencepiece_model)
    pieces = (processor.id_to_piece(number) for number in range(processor.get_piece_size()))
    return all(piece == piece.lower() for piece in pieces)


def _import_checkpoint(options: argparse.Namespace) -> None:
    from psp.importing import import_checkpoint

    config = import_checkpoint(options.checkpoint, options.sentencepiece, options.out)
    print(
        f"{options.out}: {config['vocab_size']:,} pieces, {config['dim']} dimensions; "
        f"{len(config['left_out'])} pieces have no row and are left out"
    )


def _export(options: argparse.Namespace) -> None:
    from psp.exports import export
    from psp.model import load_model

    sentences = lines(options.check) if options.check else None
    print(f"{options.out}: {export(options.form, load_model(options.model), options.out, sentences)}")
