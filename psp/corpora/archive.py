"""Read text from zip archives without unpacking them; any damage becomes one clear error."""

from __future__ import annotations

import contextlib
import io
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from psp.core.damage import DAMAGE
from psp.core.errors import DataError
from psp.core.limits import limits

# ZipExtFile splits lines in Python, BufferedReader in C: 0.9M against 1.9M pairs/s on TatoebaAnki en-fr (8 KiB: 1.88M,
# 64 KiB: 1.93M, 1 MiB: 1.95M).
BUFFER_BYTES = 1 << 16

_ABOUT = ("readme", "license", "licence", "copying")


@contextlib.contextmanager
def open_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    """Open an archive; also explain damage found while the block reads from it.

    Read members to their end: only there is a zip's checksum verified.

    Raises:
        DataError: the file is missing, cannot be read, or is not a valid zip.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            yield archive
    except (FileNotFoundError, IsADirectoryError, PermissionError) as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from error
    except DAMAGE as error:
        said = str(error) or type(error).__name__
        raise DataError(f"not a valid zip ({said}); delete it and download it again", path) from error


@contextlib.contextmanager
def open_member(archive: zipfile.ZipFile, name: str, path: Path) -> Iterator[IO[bytes]]:
    """Open a member of the archive at ``path``.

    Raises:
        DataError: the member is encrypted, or larger unpacked than :mod:`psp.core.limits` allow.
    """
    check_member(archive.getinfo(name), path)
    with archive.open(name) as member:
        # ZipExtFile has everything BufferedReader needs of a raw stream, though it is not declared as one.
        yield io.BufferedReader(member, BUFFER_BYTES)  # type: ignore[type-var]


def check_member(member: zipfile.ZipInfo, path: Path) -> None:
    """Check a member before it is read; no more than the size that it declares comes out of it.

    Raises:
        DataError: it is encrypted, or larger unpacked than the limits.
    """
    if member.flag_bits & 1:
        raise DataError(f"the member {member.filename} is encrypted; replace the archive by an unencrypted one", path)
    if problem := limits().unpacked(member.file_size, member.compress_size):
        raise DataError(f"the member {member.filename} has {problem}; if it is no damage, raise that limit", path)


def only_text_member(archive: zipfile.ZipFile, path: Path, suffixes: tuple[str, ...] = (".txt",)) -> str:
    """Return the name of the only text member, in any folder; hidden files, READMEs and licences do not count.

    Raises:
        DataError: there is none, or more than one.
    """
    present = [name for name in archive.namelist() if not name.endswith("/")]
    found = []
    for name in present:
        base = name.rsplit("/", 1)[-1].lower()
        hidden = base.startswith(".") or name.startswith("__MACOSX/")
        if base.endswith(suffixes) and not hidden and not base.startswith(_ABOUT):
            found.append(name)
    if len(found) != 1:
        what = f"{len(found)} members" if found else "no member"
        raise DataError(
            f"{what} ending in {' or '.join(suffixes)}, where one is expected (the zip has: {listed(present)}); "
            "replace it by an archive with one text file",
            path,
        )
    return found[0]


def listed(names: list[str]) -> str:
    """List the first ten names, and how many more there are."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more or "nothing"
