"""SHA256SUMS: the checksums of a folder's files, as ``sha256sum --check`` reads them.

README.md is not among them: people edit it, here and on the Hub. Neither are other people's files in the folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from psp.core.errors import DataError
from psp.core.files import atomic_text, read_bytes, sha256

NAME = "SHA256SUMS"
#: A path within the folder, of names that need no escape.
_LINE = re.compile(r"([0-9a-f]{64})  ((?:\.?\w[\w.-]*/)*\.?\w[\w.-]*)")


def write(folder: Path, names: Iterable[str]) -> None:
    """Write the checksums of these files of a folder, sorted by name.

    Raises:
        DataError: the file cannot be written.
    """
    with atomic_text(folder / NAME) as file:
        for name in sorted(names):
            file.write(f"{sha256(folder / name)}  {name}\n")


def check(folder: Path) -> list[str]:
    """The files that a folder's checksums name, after checking each.

    Raises:
        DataError: a file is missing, was changed, or lies outside the folder; or a line is not a checksum.
    """
    path = folder / NAME
    try:
        lines = read_bytes(path).decode().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot be read ({error}); make the folder again", path) from None
    names = []
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        if not (match := _LINE.fullmatch(line)):
            raise DataError("not a SHA-256 and a file of this folder; make the folder again", path, number)
        digest, name = match.groups()
        file = folder / name
        if not file.is_file() or file.is_symlink():
            raise DataError(f"is missing, but {NAME} names it; make the folder again", file)
        if sha256(file) != digest:
            raise DataError(f"was changed since {NAME} was written; make the folder again", file)
        names.append(name)
    return names
