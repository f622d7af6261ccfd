"""Bytes over HTTP into a partial file that survives a break, a kill and a second process.

The partial file is ``<name>.partial`` beside the file to be, a name that does not change, so that a run that follows a
broken or killed one asks for the rest alone (HTTP Range). ``<name>.partial.json`` holds the address and the server's
validators; If-Range makes the server send all of a file that has changed since. Without a validator nothing is kept.

The process that writes the partial file holds a lock on it (flock): a second process waits, and then finds the finished
file. The lock ends with the process, also by ``kill -9``, so no stale lock can be left behind.
"""

from __future__ import annotations

import contextlib
import email.utils
import fcntl
import logging
import os
import re
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import requests

from psp.errors import DataError
from psp.files import read_json, write_json
from psp.progress import Progress

log = logging.getLogger(__name__)

BLOCK = 1 << 16  # urllib3 drops the block it is reading when a connection breaks: small, so that little is sent twice
MAX_WAIT = 60.0  # seconds; a Retry-After beyond it is not waited for in full


class Failure(Exception):
    """A mirror does not serve; the text is the reason, in a few words."""


class Again(Failure):
    """A failure that may pass, at the earliest after ``after`` seconds."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class Partial:
    """The partial file, open and locked, and the note beside it that says whose bytes they are.

    ``resumed`` is true while it holds bytes of more than one answer.
    """

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self.file, self.path = file, path
        self.note = path.with_name(path.name + ".json")
        self.resumed = False

    def size(self) -> int:
        self.file.flush()
        return os.fstat(self.file.fileno()).st_size

    def clear(self) -> None:
        self.note.unlink(missing_ok=True)
        if self.size():
            self.file.truncate(0)
        self.file.seek(0)
        self.resumed = False

    def settle(self) -> int:
        """Drop bytes that no run could continue; the number of those that stay."""
        if not self.note.exists():
            self.clear()
        return self.size()

    def start(self, address: str, headers: Mapping[str, str], total: int | None) -> None:
        """Forget all bytes and expect ``total`` new ones, to be resumed where ``headers`` have a validator."""
        self.clear()
        note = {"address": address, "ETag": headers.get("ETag"), "Last-Modified": headers.get("Last-Modified")}
        if _validator(note):
            write_json(self.note, {**note, "bytes": total})

    def expectation(self, address: str) -> dict[str, str]:
        """The note, where the bytes at hand can be continued from ``address``, else nothing."""
        try:
            note = read_json(self.note)
            if note["address"] == address and _validator(note) and self.size():
                return dict(note)
        except (DataError, KeyError, TypeError):  # no note, or no sound one: the bytes are of no use
            pass
        return {}

    def become(self, path: Path) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.path.replace(path)
        self.note.unlink(missing_ok=True)

    def still_there(self) -> bool:
        """Whether the locked file is still the one of this name: its last owner may have renamed or removed it."""
        try:
            return os.path.samestat(os.fstat(self.file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False


def _validator(note: Mapping[str, str | None]) -> str:
    """What If-Range accepts: a strong ETag, or else a date."""
    tag = note["ETag"] or ""
    return tag if tag and not tag.startswith("W/") else note["Last-Modified"] or ""


def partial_path(path: Path) -> Path:
    return path.with_name(path.name + ".partial")


@contextlib.contextmanager
def owned(path: Path) -> Iterator[Partial]:
    """Open and lock the partial file of ``path``, waiting for a process that has it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        name = partial_path(path)
        part = Partial(os.fdopen(os.open(name, os.O_RDWR | os.O_CREAT, 0o666), "r+b"), name)
        try:
            fcntl.flock(part.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("%s: another process is fetching it; waiting", path)
            fcntl.flock(part.file, fcntl.LOCK_EX)
        if part.still_there():
            break
        part.file.close()
    try:
        yield part
    finally:
        # No flush before this look: on a full disk it would fail again, and the bytes would go on filling the disk.
        resumable = part.note.exists() and os.fstat(part.file.fileno()).st_size > 0
        if part.still_there() and not resumable:
            part.path.unlink()
            part.note.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # what could not be flushed, once more
            part.file.close()


def download(
    address: str, what: str, part: Partial, *, size: int | None, retries: int, timeout: float, backoff: float
) -> None:
    """Fill ``part`` from ``address``, resuming what is there and retrying what may pass.

    Args:
        what: the file, as progress and log name it.
        size: the pinned size; a server that announces another one is not asked for the bytes.
        retries, timeout, backoff: as for :func:`psp.corpora.download.fetch`.

    Raises:
        Failure: the address does not serve, or not in so many attempts. What was got is kept.
    """
    failed, furthest = 0, part.size()
    while True:
        try:
            return _request(address, what, part, size, timeout)
        except Again as error:
            # Only getting further than ever counts as success: a server that always breaks off is not asked for ever.
            got = part.size()
            failed = 1 if got > furthest else failed + 1
            furthest = max(furthest, got)
            if failed > retries:
                raise Failure(f"{error}; tried {failed} times" if failed > 1 else str(error)) from error
            wait = min(max(error.after, backoff * 2 ** (failed - 1)), MAX_WAIT)
            log.warning("%s: %s; trying again in %.1f s", what, error, wait)
            time.sleep(wait)


def _request(address: str, what: str, part: Partial, size: int | None, timeout: float) -> None:
    """One request, for the rest or for all; the answer is whole when this returns."""
    note = part.expectation(address)
    have = part.size() if note else 0
    if have and have == note["bytes"]:
        part.resumed = True
        return
    # "identity": the offsets of a Range count bytes as they are sent, and those must be the file's.
    headers = {"Accept-Encoding": "identity", "User-Agent": "psp"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": _validator(note)}
    try:
        with requests.get(address, headers=headers, stream=True, timeout=timeout) as response:
            if response.status_code == 200:
                total = _beginning(response, address, part, size)
            elif response.status_code in (206, 416) and have:
                total = _continuation(response, part, have, note)
            else:
                raise _refusal(response)
            if response.status_code != 416:
                with Progress(f"downloading {what}", "bytes", total and total - part.size()) as progress:
                    for block in response.iter_content(BLOCK):
                        part.file.write(block)
                        progress.add(len(block))
    except requests.exceptions.SSLError as error:
        raise Failure(f"no secure connection: {_said(error)}") from error
    except requests.Timeout as error:
        raise Again(f"no answer for {timeout:g} s") from error
    except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        raise Again(f"{_said(error)} (at byte {part.size():,})") from error
    except requests.RequestException as error:
        raise Failure(_said(error)) from error
    if total is not None and part.size() != total:
        raise Again(f"cut off at {part.size():,} of {total:,} bytes")


def _beginning(response: requests.Response, address: str, part: Partial, size: int | None) -> int | None:
    """Make ready for the whole file, and give its size where the server says it."""
    if response.headers.get("Content-Encoding", "identity") != "identity":  # against our asking; offsets mean nothing
        part.start(address, {}, None)
        return None
    length = response.headers.get("Content-Length", "")
    total = int(length) if length.isdigit() else None
    if size is not None and total is not None and total != size:
        raise Failure(f"it has {total:,} bytes there, {size:,} are pinned")
    part.start(address, response.headers, total)
    return total


def _continuation(response: requests.Response, part: Partial, have: int, note: Mapping[str, str]) -> int | None:
    """Check that the answer to a Range continues the bytes at hand, and give the whole size."""
    span = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (?:\*|(\d+)-\d+)/(\d+|\*)", span)
    begin, whole = (match[1], match[2]) if match else (None, "*")
    total = int(whole) if whole != "*" else None
    # Some servers heed Range but not If-Range: what they say of the file now must agree with what they said then.
    then = {"ETag": note["ETag"], "Last-Modified": note["Last-Modified"], "bytes": note["bytes"]}
    now = {"ETag": response.headers.get("ETag"), "Last-Modified": response.headers.get("Last-Modified"), "bytes": total}
    same = all(now[key] == then[key] for key in now if now[key] is not None and then[key] is not None)
    if response.status_code == 416 and same and total == have:
        part.resumed = True
        return total  # nothing was missing
    if response.status_code == 416 or not same or begin is None or int(begin) != have:
        part.clear()
        raise Again(f"the answer does not continue the partial file ({response.status_code}, {span!r}); starting over")
    part.file.seek(0, os.SEEK_END)
    part.resumed = True
    log.info("%s: resuming at byte %s", part.path, f"{have:,}")
    return total


def _refusal(response: requests.Response) -> Failure:
    status = response.status_code
    reason = f"{status} {response.reason}"
    return Again(reason, _retry_after(response)) if status in (408, 425, 429) or status >= 500 else Failure(reason)


def _retry_after(response: requests.Response) -> float:
    """Seconds that the server asks to wait: it sends a number, or a date."""
    value = response.headers.get("Retry-After", "")
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except ValueError:
        return 0.0


def _said(error: BaseException) -> str:
    """The innermost cause in a few words, out of the layers that requests and urllib3 put around it."""
    said, inner = "", error.__cause__ or error.__context__
    while inner is not None:
        if isinstance(inner, TimeoutError):
            said = "timed out"
        elif isinstance(inner, OSError) and inner.strerror:
            said = inner.strerror
        inner = inner.__cause__ or inner.__context__
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return said or "the connection broke off"
    return said or " ".join(str(error).split())[:200]
