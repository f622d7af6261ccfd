"""Read text from zip archives and compressed files without unpacking them; any damage becomes one clear error."""

from __future__ import annotations

import contextlib
import gzip
import io
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from psp.core.corruption import DAMAGE
from psp.core.errors import DataError, from_extra
from psp.core.limits import Unpacked, limits

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
        problem = str(error) or type(error).__name__
        raise DataError(f"not a valid zip ({problem}); delete it and download it again", path) from error


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
    """Check a member before it is read; it never unpacks to more than its declared size.

    Raises:
        DataError: it is encrypted, or larger unpacked than the limits.
    """
    if member.flag_bits & 1:
        raise DataError(f"the member {member.filename} is encrypted; replace the archive with an unencrypted one", path)
    if problem := limits().unpacked(member.file_size, member.compress_size):
        raise DataError(f"the member {member.filename} has {problem}; if undamaged, raise that limit", path)


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
def opened(path: Path) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file other than a zip; yield it and a stream of its unpacked bytes (the same for a plain file).

    Raises:
        DataError: it cannot be read, or the part that the block reads is damaged.
        PspError: the package for .zst is not installed.
    """
    damage: tuple[type[Exception], ...] = (gzip.BadGzipFile, EOFError, zlib.error)
    try:
        with path.open("rb") as file:
            yield file, _unpacked(file, path)
    except damage as error:
        raise DataError(f"truncated or damaged ({error}); make it or download it again", path) from error
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from error


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix not in (".gz", ".zst"):
        return file
    raw = gzip.GzipFile(fileobj=file) if suffix == ".gz" else _Zstd(file, path)
    return io.BufferedReader(Unpacked(raw, file, path), BUFFER_BYTES)


class _Zstd(io.RawIOBase):
    """A stream of the unpacked bytes of a .zst file.

    zstandard's own stream_reader silently accepts a truncated file (seen with 0.25): half a corpus would pass for the
    whole.
    """

    def __init__(self, file: IO[bytes], path: Path) -> None:
        with from_extra("data", f"{path}: reading .zst needs zstandard"):
            import zstandard
        self._file, self._path = file, path
        self._unpacker, self._error = zstandard.ZstdDecompressor(), zstandard.ZstdError
        self._frame: Any = None  # a file may consist of several
        self._left = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._left:
            rest = self._frame.unused_data if self._frame is not None and self._frame.eof else b""
            packed = rest or self._file.read(BUFFER_BYTES)
            if not packed:
                if self._frame is None or not self._frame.eof:
                    raise DataError("truncated; make it or download it again", self._path)
                return 0
            if self._frame is None or self._frame.eof:
                self._frame = self._unpacker.decompressobj()
            try:
                self._left = memoryview(self._frame.decompress(packed))
            except self._error as error:
                raise DataError(f"not a valid .zst file ({error}); make it or download it again", self._path) from None
        count = min(len(buffer), len(self._left))
        memoryview(buffer)[:count] = self._left[:count]
        self._left = self._left[count:]
        return count
