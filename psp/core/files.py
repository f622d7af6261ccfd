"""Atomic writes: files and folders appear complete or not at all."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import os
import pwd
import re
import shutil
import socket
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from psp.core.errors import DataError

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
