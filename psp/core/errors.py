"""User-facing errors.

Every error caused by bad input is a :class:`PspError`: one line that names the file (and the line in it) and says what
is wrong and what to do. The command line and the workflow's scripts print only that line. Any other exception is a bug
and keeps its traceback.
"""

from __future__ import annotations

import contextlib
import difflib
import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

#: Control characters, text directions, lone surrogates, line and paragraph separators.
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


#: Characters of a message.
LONGEST = 4000


class PspError(Exception):
    """A problem outside the code: one clear line for the person who can fix it.

    ``status`` is the exit status of a program that ends with it. Text from a file or a name stays
    on that line: line feeds, a terminal's control characters and the like are shown by their codes.
    """

    status = 1

    def __str__(self) -> str:
        text = super().__str__()
        if len(text) > LONGEST:  # a name or a line of somebody's file may have any length
            text = f"{text[: LONGEST // 2]} [... {len(text) - LONGEST:,} characters ...] {text[-LONGEST // 2 :]}"
        return text if text.isprintable() else "".join(map(_shown, text))


class ConfigError(PspError):
    """A wrong config; the message names the key, its value, what is allowed, and the line to write."""


class DataError(PspError):
    """Bad data; the message names the file and, if there is one, the line (counted from 1)."""

    def __init__(self, message: str, path: Path | str | None = None, line: int | None = None) -> None:
        self.message, self.path, self.line = message, path, line
        place = "" if path is None else f"{path}: " if line is None else f"{path}, line {line}: "
        super().__init__(place + message)


class DownloadError(PspError):
    """No mirror served a file, or it is not the pinned file."""


def closest(name: str, known: Iterable[str]) -> str:
    """A "did you mean" hint for errors; empty if no known name is close."""
    close = difflib.get_close_matches(name, list(known), n=1)
    return f"; did you mean {close[0]}?" if close else ""


#: The extra that a module comes with, of those that parts of psp import without saying what for.
EXTRAS = {
    **dict.fromkeys(("fasttext", "h5py", "pydantic", "requests", "tqdm", "xxhash", "yaml"), "data"),
    **dict.fromkeys(("scipy", "sklearn", "torch"), "train"),
    **dict.fromkeys(("jinja2", "matplotlib", "snakemake"), "workflow"),
}


def missing_extra(error: BaseException) -> str | None:
    """A line that names the extra of a package that could not be imported; None if that is not the error."""
    module = (error.name or "").partition(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if module not in EXTRAS:
        return None
    return f"this needs the package {module}: pip install 'paraphrastic[{EXTRAS[module]}]'"


@contextlib.contextmanager
def from_extra(extra: str, needed: str) -> Iterator[None]:
    """Import in this block what an extra of psp's package has.

    Args:
        needed: what needs which package, such as "search needs faiss".

    Raises:
        PspError: the package is not installed; the line says which extra has it.
    """
    try:
        yield
    except ModuleNotFoundError:
        raise PspError(f"{needed}: pip install 'paraphrastic[{extra}]'") from None


def _shown(character: str) -> str:
    hidden = unicodedata.category(character) in _HIDDEN
    return character.encode("unicode_escape").decode() if hidden else character
