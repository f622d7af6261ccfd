"""Files appear whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from psp.errors import DataError


@contextlib.contextmanager
def atomic(path: Path | str) -> Iterator[Path]:
    """Give a temporary path beside ``path``; it becomes ``path`` when the block ends well.

    When the block raises, the temporary file is removed and ``path`` is left as it was. The temporary name
    holds this process's number, so that a process orphaned by ``kill -9`` of its parent cannot write into the
    file of the run that follows; what dead processes of this machine left behind is removed on the way.

    Raises:
        DataError: the disk is full, or the folder cannot be written to.
    """
    path = Path(path)
    host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())
    temporary = path.with_name(f".{path.name}.{host}.{os.getpid()}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path, host)
        yield temporary
        with temporary.open("rb+") as file:
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError as error:
        _remove(temporary)
        if isinstance(error, FileNotFoundError) or error.errno is None:
            raise
        raise DataError(f"cannot be written: {error.strerror}; free space or choose another folder", path) from error
    except BaseException:
        _remove(temporary)
        raise


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # the error on the way is the one to tell
        path.unlink()


def _remove_stale(path: Path, host: str) -> None:
    pattern = re.compile(re.escape(f".{path.name}.{host}.") + r"(\d+)\.part")
    for entry in path.parent.iterdir():
        if (match := pattern.fullmatch(entry.name)) and not _alive(int(match[1])):
            entry.unlink(missing_ok=True)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


@contextlib.contextmanager
def atomic_text(path: Path | str) -> Iterator[IO[str]]:
    r"""Like :func:`atomic`, opened for UTF-8 text; only ``\n`` is ever written as the end of a line."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as file:
        yield file


def write_json(path: Path | str, value: Any) -> None:
    """Write ``value`` as indented JSON, keys in the given order, NaN refused."""
    with atomic_text(path) as file:
        json.dump(value, file, indent=2, ensure_ascii=False, allow_nan=False)
        file.write("\n")


def read_json(path: Path | str) -> Any:
    """Read a JSON file that this project wrote.

    Raises:
        DataError: the file is missing or is not JSON.
    """
    path = Path(path)
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise DataError("no such file", path) from None
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise DataError(f"not JSON ({error}); delete it and make it again", path) from error


def sha256(path: Path | str) -> str:
    """The file's SHA-256 in hexadecimal, read in blocks."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
