"""Atomic writes: files and folders appear complete or not at all."""

from __future__ import annotations

import bz2
import contextlib
import errno
import gzip
import hashlib
import io
import json
import lzma
import os
import pwd
import re
import shlex
import shutil
import socket
import stat
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from psp.core.errors import DataError, from_extra

#: The errors of a disk that accepts no more data: full, over a quota or a size limit, or read-only.
TAKES_NO_MORE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})


def user_cache() -> Path:
    """psp's folder among the user's caches: ``$XDG_CACHE_HOME/psp``, or ``~/.cache/psp``."""
    # HOME may be empty, of which Path.home() makes the root of the disk.
    home = os.environ.get("HOME") or pwd.getpwuid(os.getuid()).pw_dir
    return Path(os.environ.get("XDG_CACHE_HOME") or f"{home}/.cache") / "psp"


@contextlib.contextmanager
def atomic(path: Path | str) -> Iterator[Path]:
    """Yield a temporary path beside ``path``; rename it to ``path`` when the block succeeds.

    If the block raises, the temporary file is removed and ``path`` is left unchanged. The temporary name contains the
    process id, so that a process orphaned by ``kill -9`` of its parent cannot write into the file of the next run.
    Leftovers of dead processes on this machine are removed.

    Raises:
        DataError: the disk is full, or the folder is not writable.
    """
    path = Path(path)
    with _explained(path, "folder"), _temporary(path) as temporary:
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)


@contextlib.contextmanager
def new_folder(path: Path | str) -> Iterator[Path]:
    """Yield an empty folder beside ``path``; rename it to ``path`` when the block succeeds, else remove it.

    Raises:
        DataError: ``path`` already exists, the disk is full, or the place is not writable.
    """
    path = Path(path)
    if path.exists() or path.is_symlink():
        raise DataError("already exists; name another place, or remove it first", path)
    with _explained(path, "place"), _temporary(path) as temporary:
        temporary.mkdir()
        try:
            yield temporary
        except DataError as error:  # a file in it cannot be written: name its final path
            raise DataError(str(error).replace(str(temporary), str(path))) from error
        temporary.rename(path)


@contextlib.contextmanager
def folder_beside(path: Path) -> Iterator[Path]:
    """Make a temporary folder beside ``path``, removed at the end; folders left by dead processes are removed first.

    Raises:
        DataError: it cannot be made.
    """
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(_temporary(path, "tmp"))
            _remove(folder)  # of an earlier process with this one's number
            folder.mkdir()
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}", path) from error
        yield folder


@contextlib.contextmanager
def _explained(path: Path, what: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.errno is None:
            raise
        other = None if error.filename is None or error.errno in TAKES_NO_MORE else Path(str(error.filename))
        if other and not (other.is_relative_to(path.parent) or path.is_relative_to(other)):  # what the block reads
            raise DataError(f"cannot be opened: {error.strerror}", other) from error
        raise DataError(f"cannot be written: {error.strerror}; free space or choose another {what}", path) from error


@contextlib.contextmanager
def _temporary(path: Path, ending: str = "part") -> Iterator[Path]:
    """A name beside ``path`` for this process; what has it is removed at the end, what dead processes left before."""
    stem = f".{path.name}.{re.sub(r'[^A-Za-z0-9-]', '-', socket.gethostname())}."
    path.parent.mkdir(parents=True, exist_ok=True)
    for entry in path.parent.iterdir():
        match = re.fullmatch(rf"{re.escape(stem)}(\d+)\.{ending}", entry.name)
        if match and not _alive(int(match[1])):
            _remove(entry)
    temporary = path.with_name(f"{stem}{os.getpid()}.{ending}")
    try:
        yield temporary
    finally:
        _remove(temporary)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # the original error is the one to report
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextlib.contextmanager
def atomic_bytes(path: Path | str) -> Iterator[IO[bytes]]:
    """Like :func:`atomic`, but yield the file opened for bytes."""
    with atomic(path) as temporary, temporary.open("wb") as file:
        yield file


@contextlib.contextmanager
def atomic_text(path: Path | str) -> Iterator[IO[str]]:
    r"""Like :func:`atomic`, but yield the file opened for UTF-8 text; lines always end in ``\n``."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def append(path: Path, file: IO[bytes]) -> None:
    """Write the bytes of a file to another one."""
    with path.open("rb") as source:
        shutil.copyfileobj(source, file, 1 << 20)


def write_json(path: Path | str, value: Any) -> None:
    """Write ``value`` as indented JSON, keys in the given order; NaN is an error."""
    with atomic_text(path) as file:
        json.dump(value, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")


#: Bytes of a file that is read whole. Subwords, vocabularies and results have some megabytes.
MOST_BYTES = 1 << 30


def open_regular(path: Path | str) -> io.BufferedReader:
    """Open a regular file for reading: opening a pipe may wait for ever, and a device may have no end.

    Raises:
        DataError: it is neither a regular file nor a folder.
        OSError: as of ``open``.
    """
    file = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
        file.close()
        raise DataError("is a pipe or a device, where a regular file is needed; write what it gives to a file", path)
    return file


def read_bytes(path: Path | str) -> bytes:
    """The bytes of a regular file.

    Raises:
        DataError: it is not regular, or larger than :data:`MOST_BYTES`.
        OSError: it cannot be read.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > MOST_BYTES:
            raise DataError(f"has {size:,} bytes, of which at most {MOST_BYTES:,} are read; is it another file?", path)
        return file.read(MOST_BYTES)


def read_json(path: Path | str) -> Any:
    """Read a JSON file written by this project.

    Raises:
        DataError: the file is missing, cannot be read or is not JSON.
    """
    path = Path(path)
    try:
        return json.loads(read_bytes(path).decode())
    except FileNotFoundError:
        raise DataError("no such file", path) from None
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    # Beside JSONDecodeError: text that is not UTF-8, a number of 5,000 digits, 100,000 brackets.
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON ({error}); delete it and make it again", path) from error


def read_report(path: Path | str, *formats: int) -> Any:
    """Read a JSON file that says its ``format``, and refuse another one.

    Args:
        path: the file.
        formats: those that are read.

    Raises:
        DataError: as :func:`read_json`, or it is of another format, and so of another version of psp.
    """
    value = read_json(path)
    found = value.get("format") if isinstance(value, dict) else None
    if found not in formats:
        known = " or ".join(map(str, formats))
        raise DataError(f"has format {found!r:.80}, but this psp reads {known}; make it again", path)
    return value


def sha256(*paths: Path | str) -> str:
    """The SHA-256 of a regular file, or of several one after another, in hexadecimal, read in blocks."""
    digest = hashlib.sha256()
    for path in paths:
        with open_regular(path) as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


#: Bytes of a line of text: no sentence is that long, and a file without line ends would be read into memory whole.
LINE_BYTES = 1 << 20
#: Bytes of an archive's member or of a compressed file, unpacked: more than the largest corpus, less than most disks.
UNPACKED_BYTES = 200_000_000_000
#: How many times its size a member or a compressed file may grow, far beyond what packed text does.
RATIO = 200
#: Files smaller than this when unpacked may have any ratio: a page of spaces is not a bomb.
HARMLESS_BYTES = 16 << 20


def unpacked_problem(size: int, packed: int) -> str | None:
    """Say in a few words why ``packed`` bytes may not unpack to ``size``; None if they may."""
    if size > UNPACKED_BYTES:
        return f"more than {UNPACKED_BYTES:,} bytes unpacked"
    if size > HARMLESS_BYTES and size > RATIO * max(packed, 1):
        return f"more than {RATIO:g} times its size unpacked"
    return None


#: What a compressed file's name ends in.
SUFFIXES = (".gz", ".bz2", ".xz", ".zst")
#: Bytes of one reading, packed or not.
BUFFER_BYTES = 1 << 16

#: Bytes of a .zst handed to the decompressor at a time. A block of four bytes may stand for 128 KiB, so its output has
#: no more than 32 MiB. 64 KiB at a time: 1.2 times as fast for text (600 against 500 MB/s), but 2 GiB of a bomb.
_ZSTD_BYTES = 1 << 10


@contextlib.contextmanager
def opened(path: Path, *, regular: bool = False) -> Iterator[tuple[IO[bytes], IO[bytes]]]:
    """Open a file; yield it and a stream of its unpacked bytes (the same for a plain file).

    Args:
        path: the file.
        regular: refuse a pipe or a device.

    Raises:
        DataError: it cannot be opened; reading from the stream: it is damaged, truncated, or larger unpacked than
            :mod:`psp.core.files` allows.
        PspError: the package for .zst is not installed.
    """
    try:
        file = open_regular(path) if regular else path.open("rb")
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror or error}", path) from None
    with file:
        yield file, _unpacked(file, path)


def _unpacked(file: IO[bytes], path: Path) -> IO[bytes]:
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        return file
    readers: Mapping[str, Callable[[], io.RawIOBase | io.BufferedIOBase]]
    readers = {
        ".gz": lambda: gzip.GzipFile(fileobj=file),
        ".bz2": lambda: bz2.BZ2File(file),
        ".xz": lambda: lzma.LZMAFile(file),  # noqa: SIM115 (closed with `file`)
        ".zst": lambda: _Zstd(file, path),
    }
    return io.BufferedReader(Unpacked(readers[suffix](), file, path), BUFFER_BYTES)


class Unpacked(io.RawIOBase):
    """The unpacked bytes of a compressed file, as far as the limits allow.

    Args:
        raw: gives the unpacked bytes.
        file: the compressed file that they are read from.
        path: for errors.

    Raises:
        DataError: (when read) the file is damaged or truncated, or exceeds a limit.
    """

    def __init__(self, raw: Any, file: IO[bytes], path: Path) -> None:
        self._raw, self._file, self._path, self._size = raw, file, path, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        try:
            count = int(self._raw.readinto(buffer))
        except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
            if isinstance(error, OSError) and error.errno is not None:
                raise DataError(f"cannot be read: {error.strerror}", self._path) from None
            raise DataError(f"truncated or damaged ({error}); make it or download it again", self._path) from None
        self._size += count
        if problem := unpacked_problem(self._size, self._file.tell()):
            raise DataError(f"has {problem}; if you trust it, unpack it and name what was in it", self._path)
        return count


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
            packed = rest or self._file.read(_ZSTD_BYTES)
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


#: What files begin with that are not plain text; what they are, and the command that makes a text of one.
_FORMATS = (
    (rb"\x1f\x8b\x08", "compressed by gzip", "gzip -dc {0} > {0}.txt`, or let its name end in `.gz"),
    (rb"BZh[1-9]1AY&SY", "compressed by bzip2", "bzip2 -dc {0} > {0}.txt`, or let its name end in `.bz2"),
    (rb"\xfd7zXZ\0", "compressed by xz", "xz -dc {0} > {0}.txt`, or let its name end in `.xz"),
    (rb"\x28\xb5\x2f\xfd", "compressed by zstd", "zstd -dc {0} > {0}.txt`, or let its name end in `.zst"),
    (rb"PK\x03\x04", "a zip archive", "unzip -p {0} > {0}.txt"),
    (rb"%PDF-", "a PDF", "pdftotext {0} {0}.txt"),
    (rb"PAR1", "a Parquet table", "python -c 'import pandas; print(pandas.read_parquet(\"{0}\"))'"),
    (rb"\xff\xfe|\xfe\xff", "UTF-16", "iconv -f UTF-16 -t UTF-8 {0} > {0}.txt"),
    (rb"([\t\r\n -~]\0){4}", "UTF-16", "iconv -f UTF-16LE -t UTF-8 {0} > {0}.txt"),
    (rb"(\0[\t\r\n -~]){4}", "UTF-16", "iconv -f UTF-16BE -t UTF-8 {0} > {0}.txt"),
)


def check_plain(beginning: bytes, path: Path | str) -> None:
    """Check by the first bytes of a file that it is no archive, picture of pages, or text in another encoding.

    Raises:
        DataError: it is; the line says what it is and which command makes a text of it.
    """
    for pattern, called, command in _FORMATS:
        if re.match(pattern, beginning):
            file = shlex.quote(str(path)) if isinstance(path, Path) else "FILE"
            raise DataError(f"is {called}, not plain text; run `{command.format(file)}`", path)
