"""The ``psp`` command: everything outside the workflow. :data:`COMMANDS` lists the commands by purpose."""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from psp.cli import (
    combine,
    embed,
    evaluate,
    export,
    import_checkpoint,
    info,
    inspect,
    languages,
    mine,
    paraphrase,
    pin,
    plan,
    push,
    quantize,
    report,
    score,
    search,
    serve,
    settings,
    show,
    train,
    translate,
    workflow,
)
from psp.cli.common import check_outputs, printing
from psp.core.errors import closest
from psp.core.logs import job
from psp.core.version import __version__

#: In the order of the help, by purpose.
COMMANDS = {
    "train a model, by the workflow": (train, languages, settings, plan, inspect, pin, workflow),
    "results": (show, report, evaluate),
    "use a model": (info, embed, score, search, mine, serve),
    "change or share a model": (quantize, combine, export, import_checkpoint, push),
    "use a translator": (translate, paraphrase),
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; on bad input, print one line and exit with status 1."""
    with printing():  # --help too
        options = _parser().parse_args(arguments)
    with job(level=options.level), printing():
        check_outputs(options)
        options.run(options)


class _Parser(argparse.ArgumentParser):
    """Suggests the command that was meant, and lists the commands by purpose.

    Attributes:
        groups: the commands by purpose, each with a description.
    """

    groups: Mapping[str, list[tuple[str, str]]] = {}

    def error(self, message: str) -> NoReturn:
        if match := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            known = [name.strip(" '") for name in match[2].split(",")]
            message = f"{match[1]}: no such command{closest(match[1], known)}; `psp --help` lists them"
        super().error(message)

    def format_help(self) -> str:
        formatter = self._get_formatter()
        formatter.add_usage(self.usage, [action for action in self._actions if action.dest != "help"], [])
        formatter.add_text(self.description)
        for purpose, commands in self.groups.items():
            formatter.start_section(purpose)
            for name, what in commands:
                formatter.add_argument(argparse.Action([], name, help=what, metavar=name))
            formatter.end_section()
        formatter.add_text("`psp COMMAND --help` lists the options of a command.")
        return formatter.format_help()


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="psp", description="Sentence embeddings from parallel text.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser)
    parser.groups = {purpose: [] for purpose in COMMANDS}
    for purpose, modules in COMMANDS.items():

        def command(
            name: str, run: Any, what: str, group: list[tuple[str, str]] = parser.groups[purpose]
        ) -> argparse.ArgumentParser:
            group.append((name, what))
            added = commands.add_parser(name, help=what, description=what)
            added.set_defaults(run=run, level=logging.WARNING)
            return added

        for module in modules:
            module.add(command)
    return parser
