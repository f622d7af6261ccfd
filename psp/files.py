"""Files appear whole or not at all."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import shutil
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
    temporary = _beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path)
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


@contextlib.contextmanager
def new_folder(path: Path | str) -> Iterator[Path]:
    """Give an empty folder beside ``path``; it becomes ``path`` when the block ends well, and else is removed.

    Raises:
        DataError: something is at ``path`` already, the disk is full, or nothing can be written there.
    """
    path = Path(path)
    if path.exists() or path.is_symlink():
        raise DataError("is there already; name another place, or remove it first", path)
    temporary = _beside(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _remove_stale(path)
        temporary.mkdir()
        yield temporary
        temporary.rename(path)
    except DataError as error:  # a file in it cannot be written: by the name that it would have had
        raise DataError(str(error).replace(str(temporary), str(path))) from error
    except OSError as error:
        if isinstance(error, FileNotFoundError) or error.errno is None:
            raise
        raise DataError(f"cannot be written: {error.strerror}; free space or choose another place", path) from error
    finally:
        _remove(temporary)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{_host()}.{os.getpid()}.part")


def _host() -> str:
    return re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):  # the error on the way is the one to tell
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _remove_stale(path: Path) -> None:
    pattern = re.compile(re.escape(f".{path.name}.{_host()}.") + r"(\d+)\.part")
    for entry in path.parent.iterdir():
        if (match := pattern.fullmatch(entry.name)) and not _alive(int(match[1])):
            _remove(entry)


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
