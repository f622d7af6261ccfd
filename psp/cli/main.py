"""The ``psp`` command: everything outside the workflow. :data:`COMMANDS` lists the commands by purpose."""

from __future__ import annotations

import argparse
import importlib
import logging
import re
import sys
from collections.abc import Sequence
from typing import NoReturn

from psp.cli import check_outputs, printing
from psp.core import __version__
from psp.core.errors import closest
from psp.core.logs import job

#: By purpose, in the order of the help: each command's module here, and what it does.
COMMANDS = {
    "train a model, by the workflow": {
        "train": (
            "project",
            "Train a model on a file of pairs: write its config, FOLDER/config.yaml, and run the workflow on it. A "
            "config that is there already is run as it is.",
        ),
        "languages": ("project", "Suggest the config for a new language from the corpora in OPUS."),
        "settings": ("settings", "Print the keys of the config: defaults, allowed values, and what each is for."),
        "plan": ("project", "Estimate the downloads, disk, memory and time that a model will take."),
        "inspect": (
            "inspect",
            "Run the filters on a sample of a model's corpora, and report what looks wrong, before training.",
        ),
        "pin": ("project", "Record the size and SHA-256 of the files that models have downloaded."),
        "workflow": (
            "project",
            'Print the path of the Snakefile: snakemake -s "$(psp workflow)" works in any folder.',
        ),
    },
    "results": {
        "show": (
            "results",
            "Print the scores of a model, its tasks, variants and quantized versions; or of a translator.",
        ),
        "report": ("results", "Write a page with a model's results, or one that compares several models."),
        "eval": ("results", "Score an encoder on test sets, without the workflow."),
    },
    "use a model": {
        "info": ("model", "Describe a model: languages, size, text processing, acceleration on this machine."),
        "embed": ("vectors", "Embed each line of a text, in the order of the lines."),
        "score": ("vectors", "Append the cosine of its two sentences to each line of tab-separated pairs."),
        "search": ("search", "Find the sentences of a corpus nearest to each query, by cosine."),
        "mine": ("search", "Mine translation pairs from two texts, by the margin of their cosines."),
        "serve": ("serve", "Serve a web page to try a model, and a small JSON API."),
    },
    "change or share a model": {
        "quantize": ("model", "Make a model smaller: fewer bits per number, fewer dimensions, or both."),
        "combine": ("model", "Join models into one whose cosine is the weighted mean of theirs."),
        "export": ("model", "Convert a model to a format that another library loads."),
        "import-checkpoint": ("model", "Convert a checkpoint of the published P-SP code to a model folder."),
        "push": ("model", "Put a release or a model on the Hugging Face Hub."),
    },
    "use a translator": {
        "translate": ("translate", "Translate sentences, one per line, with a translator."),
        "paraphrase": ("translate", "Paraphrase sentences, one per line, with a translator of paraphrases."),
    },
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; on bad input, print one line and exit with status 1."""
    arguments = sys.argv[1:] if arguments is None else arguments
    with printing():  # --help too
        options = _parser(next(iter(arguments), "")).parse_args(arguments)
    with job(level=options.level), printing():
        check_outputs(options)
        options.run(options)


class _Parser(argparse.ArgumentParser):
    """Suggests the command that was meant, and lists the commands by purpose."""

    def error(self, message: str) -> NoReturn:
        if match := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            known = [name.strip(" '") for name in match[2].split(",")]
            message = f"{match[1]}: no such command{closest(match[1], known)}; `psp --help` lists them"
        super().error(message)

    def format_help(self) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, [action for action in self._actions if action.dest != "help"], [])
        formatter.add_text(self.description)
        for purpose, commands in COMMANDS.items():
            formatter.start_section(purpose)
            for name, (_, what) in commands.items():
                formatter.add_argument(argparse.Action([], name, help=what, metavar=name))
            formatter.end_section()
        formatter.add_text("`psp COMMAND --help` lists the options of a command.")
        return formatter.format_help()


def _parser(command: str) -> argparse.ArgumentParser:
    """The parser of all commands, of which one has its arguments."""
    parser = _Parser(prog="psp", description="Sentence embeddings from parallel text.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser)
    for group in COMMANDS.values():
        for name, (_, what) in group.items():
            added = commands.add_parser(name, description=what)
            if name == command:
                add_arguments(added, name)
    return parser


def add_arguments(parser: argparse.ArgumentParser, command: str) -> None:
    """Add a command's arguments, and what it runs, to its parser; its module is imported here alone."""
    (module,) = (group[command][0] for group in COMMANDS.values() if command in group)
    family, name = importlib.import_module(f"psp.cli.{module}"), command.replace("-", "_")
    parser.set_defaults(level=logging.WARNING, run=getattr(family, f"run_{name}"))
    getattr(family, f"add_{name}")(parser)
