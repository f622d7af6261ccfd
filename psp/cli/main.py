"""The ``psp`` command: everything outside the workflow.

``doctor`` checks the installation; ``plan``, ``pin`` and ``languages`` read the config; ``inspect`` looks at a model's
corpora; ``watch`` follows a run; ``pivot`` mines pairs, ``stats`` measures them, ``lexicon`` lists pairs of words from
them and ``train`` trains a model without the workflow; ``show`` prints a model's scores, ``report`` writes them as a
page; ``info``, ``embed``, ``score``, ``search``, ``mine``, ``quantize``, ``combine`` and ``serve`` use a model;
``import-checkpoint`` converts models of the published code, ``export`` converts to other libraries' formats, ``push``
puts a model on the Hugging Face Hub.
"""

from __future__ import annotations

import argparse
import logging
import re
from collections.abc import Sequence
from typing import Any, NoReturn

from psp.cli import (
    combine,
    doctor,
    embed,
    evaluate,
    export,
    import_checkpoint,
    info,
    inspect,
    languages,
    lexicon,
    mine,
    paraphrase,
    pin,
    pivot,
    plan,
    push,
    quantize,
    report,
    score,
    search,
    serve,
    show,
    stats,
    train,
    train_translator,
    translate,
    watch,
)
from psp.cli.common import printing
from psp.core.errors import closest
from psp.core.logs import job
from psp.core.version import __version__

#: In the order of the help.
COMMANDS = (
    doctor,
    plan,
    inspect,
    pin,
    languages,
    pivot,
    stats,
    lexicon,
    train,
    train_translator,
    translate,
    paraphrase,
    show,
    report,
    evaluate,
    watch,
    info,
    embed,
    score,
    search,
    mine,
    quantize,
    combine,
    serve,
    import_checkpoint,
    export,
    push,
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run one command; on bad input, print one line and exit with status 1."""
    with printing():  # --help too
        options = _parser().parse_args(arguments)
    with job(level=options.level), printing():
        options.run(options)


class _Parser(argparse.ArgumentParser):
    """Says which command was meant."""

    def error(self, message: str) -> NoReturn:
        if match := re.search(r"invalid choice: '([^']*)' \(choose from (.*)\)", message):
            known = [name.strip(" '") for name in match[2].split(",")]
            message = f"{match[1]}: no such command{closest(match[1], known)}; `psp --help` lists them"
        super().error(message)


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="psp", description="Sentence embeddings from parallel text.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(required=True, metavar="COMMAND", parser_class=argparse.ArgumentParser)

    def command(name: str, run: Any, what: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=what, description=what)
        added.set_defaults(run=run, level=logging.WARNING)
        return added

    for module in COMMANDS:
        module.add(command)
    return parser
