"""Read text from zip archives without unpacking them; any damage becomes one clear error."""

from __future__ import annotations

import contextlib
import io
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from psp.core.corruption import DAMAGE
from psp.core.errors import DataError
from psp.core.files import BUFFER_BYTES, opened, unpacked_problem
from psp.text.lines import decoded_lines

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
        problem = str(error) or type(error).__name__
        raise DataError(f"not a valid zip ({problem}); delete it and download it again", path) from error


@contextlib.contextmanager
def open_member(archive: zipfile.ZipFile, name: str, path: Path) -> Iterator[IO[bytes]]:
    """Open a member of the archive at ``path``.

    Raises:
        DataError: the member is encrypted, or larger unpacked than :mod:`psp.core.files` allows.
    """
    check_member(archive.getinfo(name), path)
    with archive.open(name) as member:
        # ZipExtFile splits lines in Python, BufferedReader in C: 0.9M against 1.9M pairs/s on TatoebaAnki en-fr (8 KiB:
        # 1.88M, 64 KiB: 1.93M, 1 MiB: 1.95M). It has everything of a raw stream, though it is not declared as one.
        yield io.BufferedReader(member, BUFFER_BYTES)  # type: ignore[type-var]


def check_member(member: zipfile.ZipInfo, path: Path) -> None:
    """Check a member before it is read; it never unpacks to more than its declared size.

    Raises:
        DataError: it is encrypted, or larger unpacked than the limits.
    """
    if member.flag_bits & 1:
        raise DataError(f"the member {member.filename} is encrypted; replace the archive with an unencrypted one", path)
    if problem := unpacked_problem(member.file_size, member.compress_size):
        raise DataError(f"the member {member.filename} has {problem}; unpack it, if you trust it", path)


def store_member(archive: zipfile.ZipFile, name: str, path: Path) -> None:
    """Add a file reproducibly: dated 1980, and uncompressed, since deflate's output depends on the zlib version."""
    info = zipfile.ZipInfo(name)
    info.external_attr = 0o644 << 16
    info.create_system = 3  # Unix, on every system
    info.file_size = path.stat().st_size
    with path.open("rb") as source, archive.open(info, "w") as target:
        shutil.copyfileobj(source, target, 1 << 20)


def only_text_member(archive: zipfile.ZipFile, path: Path, suffixes: tuple[str, ...] = (".txt",)) -> str:
    """Return the name of the only text member, in any folder; hidden files, READMEs and licences do not count.

    Raises:
        DataError: there is none, or more than one.
    """
    present = [name for name in archive.namelist() if not name.endswith("/")]
    members = []
    for name in present:
        base = name.rsplit("/", 1)[-1].lower()
        hidden = base.startswith(".") or name.startswith("__MACOSX/")
        if base.endswith(suffixes) and not hidden and not base.startswith(_ABOUT):
            members.append(name)
    if len(members) != 1:
        what = f"{len(members)} members" if members else "no member"
        raise DataError(
            f"{what} ending in {' or '.join(suffixes)}, where one is expected (the zip has: {listed(present)}); "
            "replace it with an archive of one text file",
            path,
        )
    return members[0]


def listed(names: list[str]) -> str:
    """List the first ten names, and how many more there are."""
    more = f" and {len(names) - 10} more" if len(names) > 10 else ""
    return ", ".join(names[:10]) + more or "nothing"


@contextlib.contextmanager
def open_text(path: Path, suffixes: tuple[str, ...] = (".txt", ".tsv")) -> Iterator[IO[bytes]]:
    """Open a stream of a file's unpacked bytes; of a .zip, of its only member with one of the suffixes.

    Raises:
        DataError: it cannot be opened, or has no such member; reading from the stream: it is damaged.
        PspError: the package for .zst is not installed.
    """
    if path.suffix.lower() == ".zip":
        with open_zip(path) as archive, open_member(archive, only_text_member(archive, path, suffixes), path) as stream:
            yield stream
    else:
        with opened(path) as (_, stream):
            yield stream


def text_lines(path: Path | str, suffixes: tuple[str, ...] = (".txt", ".tsv")) -> Iterator[str | bytes]:
    """Yield the unpacked lines of a file, without a byte order mark; those that are not UTF-8 as bytes.

    Raises:
        DataError: the file is missing, damaged or truncated, or is no text; possibly after lines were yielded.
        PspError: the package for .zst is not installed.
    """
    with open_text(Path(path), suffixes) as stream:
        yield from decoded_lines(stream, path)
