"""The page of all commands, from the parser of ``psp``; ``make docs`` writes it as commands.md.

The usage and the tables are made here rather than by argparse, whose layout differs between versions of Python.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from psp.cli.main import COMMANDS, add_arguments

_INTRODUCTION = """\
# Every command

`psp COMMAND --help` prints the same. All commands have `-h`, `--help`; `psp --version` prints the version. An option
without a default is off, or is explained in its row. A command exits with status 0 if it did what it was asked, with 1
and one line if its input is wrong, and with 2 if the command line itself is.
"""
#: How a help text states a default: in brackets, or by itself.
_DEFAULT = re.compile(r" ?\(default: ([^();]+)(?P<more>; [^()]+)?\)|(?:^|[;,] )default: ([^;]+)(?:; )?")


def commands() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Each command's purpose and parser, in the order of ``psp --help``."""
    for purpose, group in COMMANDS.items():
        for name, (_, what) in group.items():
            parser = argparse.ArgumentParser(prog=f"psp {name}", description=what)
            add_arguments(parser, name)
            yield purpose, parser


def page() -> str:
    """The page, as Markdown."""
    lines, last = [_INTRODUCTION], None
    for purpose, parser in commands():
        if purpose != last:
            lines += [f"## {purpose[0].upper()}{purpose[1:]}", ""]
            last = purpose
        lines += [f"### `{parser.prog}`", "", parser.description or "", "", "```text", _usage(parser), "```", ""]
        lines += [*_table(parser), *_epilog(parser), ""]
    return "\n".join(lines).rstrip() + "\n"


def _actions(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    """What a command takes but ``--help``, positional arguments first."""
    found = [action for action in parser._actions if action.dest != "help"]
    return sorted(found, key=lambda action: bool(action.option_strings))


def _usage(parser: argparse.ArgumentParser) -> str:
    """Positional arguments, options that must be given, and ``[options]`` for the rest."""
    actions = _actions(parser)
    words = [_values(action) for action in actions if not action.option_strings]
    words += [_option(action) for action in actions if action.option_strings and action.required]
    if any(action.option_strings and not action.required for action in actions):
        words.append("[options]")
    return " ".join([parser.prog, *words])


def _option(action: argparse.Action) -> str:
    return " ".join(filter(None, [action.option_strings[-1], _values(action)]))


def _values(action: argparse.Action) -> str:
    """The values that an argument takes, in the notation of a usage."""
    if action.nargs == 0:
        return ""
    names: Any = action.metavar
    if names is None and action.choices is not None:
        names = "|".join(map(str, action.choices))
    elif names is None:
        names = action.dest.upper()
    if isinstance(action.nargs, int):
        return " ".join([names] * action.nargs if isinstance(names, str) else names)
    return {"?": f"[{names}]", "*": f"[{names} ...]", "+": f"{names} [{names} ...]"}.get(str(action.nargs), names)


def _table(parser: argparse.ArgumentParser) -> Iterator[str]:
    if not _actions(parser):
        return
    yield "| option | default | what it does |"
    yield "| --- | --- | --- |"
    for action in _actions(parser):
        name = ", ".join([*action.option_strings[:-1], _option(action)]) if action.option_strings else _values(action)
        text, default = _help(action, parser)
        if action.choices is not None and action.metavar is not None:
            text += f": {', '.join(f'`{choice}`' for choice in action.choices)}"
        yield f"| {' | '.join([f'`{_cell(name)}`', _cell(default), _cell(text)])} |"


def _help(action: argparse.Action, parser: argparse.ArgumentParser) -> tuple[str, str]:
    """What an argument does, and its default: as the help states it, else the parser's."""
    help_text = (action.help or "") % {**vars(action), "prog": parser.prog}
    if match := _DEFAULT.search(help_text):
        more = f" ({match['more'].removeprefix('; ')})" if match["more"] else ""
        return help_text[: match.start()] + more + help_text[match.end() :], match[1] or match[3]
    if action.required and action.option_strings:
        return help_text, "must be given"
    plain = action.default not in (None, False, argparse.SUPPRESS) and action.default != []
    return help_text, str(action.default) if plain else ""


def _epilog(parser: argparse.ArgumentParser) -> Iterator[str]:
    """What a command's help ends with; lines that are indented, as a list."""
    before = None
    for line in (parser.epilog or "").splitlines():
        indented = line.startswith("  ")
        if indented != before or not indented:
            yield ""
        before = indented
        name, _, what = line.strip().partition(": ")
        yield f"- `{name}`: {_prose(what)}" if indented else _prose(line[:1].upper() + line[1:])


def _cell(text: str) -> str:
    return _prose(text).replace("|", "\\|")


def _prose(text: str) -> str:
    """Escape ``<model>`` outside code, so that it is not a tag."""
    parts = text.split("`")
    return "`".join(part.replace("<", "\\<") if place % 2 == 0 else part for place, part in enumerate(parts))
