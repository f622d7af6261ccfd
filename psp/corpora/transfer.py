"""Download over HTTP into a partial file that survives broken connections, kills and concurrent processes.

The partial file ``<name>.partial`` lies beside the final file under a fixed name, so that the next run after a broken
or killed one requests only the rest (HTTP Range). ``<name>.partial.json`` holds the address and the server's
validators; If-Range makes the server send everything if the file has changed. Without a validator nothing is kept.

The process writing the partial file holds a lock on it (flock); a second process waits, and then finds the finished
file. The lock ends with the process, even by ``kill -9``, so there are no stale locks. On file systems without locks
the only protection is Snakemake's, which lets one run into a folder at a time.

Why no library: pooch 1.9 neither resumes a file nor has mirrors. urllib3's Retry repeats requests, not the rest of a
body that broke off; with tenacity the loop in :func:`download` would be no shorter, since progress resets its count.
filelock locks a file of its own, which stays behind, where this locks the partial file itself.
"""

from __future__ import annotations

import contextlib
import email.utils
import errno
import fcntl
import ipaddress
import itertools
import logging
import os
import re
import socket
import time
import urllib.parse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING

from psp.core.errors import DataError
from psp.core.files import read_json, write_json
from psp.core.limits import unpacked_problem
from psp.core.progress import Progress

if TYPE_CHECKING:
    import requests

log = logging.getLogger(__name__)

BLOCK = 1 << 16  # small, since urllib3 drops the block it is reading when a connection breaks
#: Bytes of a download whose size is neither pinned nor announced: more than any corpus, so that an answer without an
#: end has one.
DOWNLOAD_BYTES = 500_000_000_000
REDIRECTS = 5  # of a download; a circle of them has no end
#: Bytes per second over so many seconds, below which a server is left: a day for 88 MB.
RATE, RATE_SECONDS = 1024, 60.0
#: A number in a header: `²` is a digit for Python, but not a number.
_NUMBER = re.compile(r"[0-9]{1,18}")
#: What file systems without locks say, such as some network drives.
NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})
MAX_WAIT = 60.0  # seconds; caps Retry-After


class Failure(Exception):
    """A mirror does not serve the file; the message is a short reason."""


class Again(Failure):
    """A temporary failure, to be retried after at least ``after`` seconds."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class Partial:
    """The partial file, open and locked, and the note beside it with the origin of its bytes.

    ``resumed`` is true while it holds bytes of more than one response.
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
        """Drop bytes that cannot be resumed; return the number kept."""
        if not self.note.exists():
            self.clear()
        return self.size()

    def start(self, address: str, headers: Mapping[str, str], total: int | None) -> None:
        """Discard all bytes and expect ``total`` new ones, resumable if ``headers`` have a validator."""
        self.clear()
        note = {"address": address, "ETag": headers.get("ETag"), "Last-Modified": headers.get("Last-Modified")}
        if _validator(note):
            write_json(self.note, {**note, "bytes": total})

    def expectation(self, address: str) -> dict[str, str]:
        """Return the note if the bytes we have can be resumed from ``address``, else an empty dict."""
        try:
            note = read_json(self.note)
            if note["address"] == address and _validator(note) and self.size():
                return dict(note)
        except (DataError, KeyError, TypeError):  # no valid note: the bytes are useless
            pass
        return {}

    def become(self, path: Path) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.path.replace(path)
        self.note.unlink(missing_ok=True)

    def still_there(self) -> bool:
        """Tell whether the locked file still has its name: its last owner may have renamed or removed it."""
        try:
            return os.path.samestat(os.fstat(self.file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False


def _validator(note: Mapping[str, str | None]) -> str:
    """Return what If-Range accepts: a strong ETag, or else a date."""
    tag = note["ETag"] or ""
    return tag if tag and not tag.startswith("W/") else note["Last-Modified"] or ""


def partial_path(path: Path) -> Path:
    return path.with_name(path.name + ".partial")


@contextlib.contextmanager
def owned(path: Path) -> Iterator[Partial]:
    """Open and lock the partial file of ``path``, waiting for any process that holds the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        name = partial_path(path)
        part = Partial(os.fdopen(os.open(name, os.O_RDWR | os.O_CREAT, 0o666), "r+b"), name)
        try:
            fcntl.flock(part.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            log.info("%s: another process is downloading it; waiting", path)
            fcntl.flock(part.file, fcntl.LOCK_EX)
        except OSError as error:
            if error.errno not in NO_LOCKS:
                raise
        if part.still_there():
            break
        part.file.close()
    try:
        yield part
    finally:
        # Do not flush first: on a full disk that would fail again, and the bytes would keep filling the disk.
        resumable = part.note.exists() and os.fstat(part.file.fileno()).st_size > 0
        if part.still_there() and not resumable:
            part.path.unlink()
            part.note.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # flushing may fail again
            part.file.close()


def download(
    address: str, what: str, part: Partial, *, size: int | None, retries: int, timeout: float, backoff: float
) -> None:
    """Download ``address`` to ``part``, resuming a partial download and retrying temporary failures.

    Args:
        what: name of the file, for progress and log.
        size: the pinned size; if the server announces another, nothing is downloaded.
        retries, timeout, backoff: as for :func:`psp.corpora.download.fetch`.

    Raises:
        Failure: the address does not serve the file, or all attempts failed. Bytes received are kept.
    """
    failed, furthest = 0, part.size()
    while True:
        try:
            return _request(address, what, part, size, timeout)
        except Again as error:
            # Only new progress resets the count, so that a server that always breaks off does not loop forever.
            got = part.size()
            failed = 1 if got > furthest else failed + 1
            furthest = max(furthest, got)
            if failed > retries:
                raise Failure(f"{error}; tried {failed} times" if failed > 1 else str(error)) from error
            wait = min(max(error.after, backoff * 2 ** (failed - 1)), MAX_WAIT)
            log.warning("%s: %s; retrying in %.1f s", what, error, wait)
            time.sleep(wait)


def _request(address: str, what: str, part: Partial, size: int | None, timeout: float) -> None:
    """Send one request, for the rest or for everything; the file is complete when this returns."""
    import requests  # here, since the config imports this module too, which downloads nothing

    note = part.expectation(address)
    have = part.size() if note else 0
    if have and have == note["bytes"]:
        part.resumed = True
        return
    # "identity": Range offsets count bytes as sent, which must be the file's own.
    headers = {"Accept-Encoding": "identity", "User-Agent": "psp"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": _validator(note)}
    try:
        with _asked(address, headers, timeout) as response:
            if response.status_code == 200:
                total = _beginning(response, address, part, size)
            elif response.status_code in (206, 416) and have:
                total = _continuation(response, part, have, note)
            else:
                raise _refusal(response)
            if response.status_code != 416:
                with Progress(f"downloading {what}", "bytes", total and total - part.size()) as progress:
                    most = DOWNLOAD_BYTES if total is None else total
                    for block in _blocks(response):
                        part.file.write(block)
                        progress.add(len(block))
                        if part.size() > most:
                            part.clear()
                            announced = "" if total is None else ", which it announced"
                            raise Failure(f"it sends more than {most:,} bytes{announced}")
    except requests.exceptions.SSLError as error:
        raise Failure(f"no secure connection: {_said(error)}") from error
    except requests.Timeout as error:
        raise Again(f"no response for {timeout:g} s") from error
    except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        raise Again(f"{_said(error)} (at byte {part.size():,})") from error
    except requests.RequestException as error:
        raise Failure(_said(error)) from error
    except ValueError as error:  # from the address, or from one that it was redirected to
        raise Failure(f"it leads to something that is not an address ({' '.join(str(error).split())[:200]})") from error
    if total is not None and part.size() != total:
        raise Again(f"cut off at {part.size():,} of {total:,} bytes")


def _asked(address: str, headers: Mapping[str, str], timeout: float) -> requests.Response:
    """Send the request, and follow the server's redirects at most :data:`REDIRECTS` of them."""
    import requests

    public = None
    for followed in itertools.count():
        response = requests.get(address, headers=headers, stream=True, timeout=timeout, allow_redirects=False)
        there = response.headers.get("Location")
        if not response.is_redirect or there is None:
            return response
        response.close()
        if followed >= REDIRECTS:
            raise Failure(f"it redirects the download more than {REDIRECTS} times")
        public = _is_public(address) if public is None else public
        address = urllib.parse.urljoin(address, there.encode("latin-1").decode())
        shown = re.sub(r"//[^/@]*@", "//", address)[:200]
        if not address.lower().startswith(("https://", "http://")):
            raise Failure(f"it redirects the download to {shown}, which is not a web address")
        if public and not _is_public(address):
            raise Failure(f"it redirects the download to {shown}, in a private network; name that as a mirror")
    raise AssertionError


def _is_public(address: str) -> bool:
    """Whether all addresses of a server's name are on the internet, not of this machine or its network."""
    host = (urllib.parse.urlsplit(address).hostname or "").partition("%")[0]  # without an interface
    try:
        addresses = {str(entry[4][0]).partition("%")[0] for entry in socket.getaddrinfo(host, None)}
    except (OSError, UnicodeError):
        return True  # asking it will say what is wrong
    return all(ipaddress.ip_address(one).is_global for one in addresses)


def _blocks(response: requests.Response) -> Iterator[bytes]:
    """Yield what arrives, as it does, while the server is not slower than :data:`RATE`."""
    import requests
    import urllib3

    begun, received, unpacked = time.monotonic(), 0, 0
    packed = response.headers.get("Content-Encoding", "identity") != "identity"
    try:
        while block := response.raw.read1(BLOCK, decode_content=True):
            unpacked += len(block)
            if packed and (problem := unpacked_problem(unpacked, response.raw.tell())):
                raise Failure(f"its compressed response has {problem}")
            yield block
            received += len(block)
            if (seconds := time.monotonic() - begun) >= RATE_SECONDS:
                if received < RATE * seconds:
                    raise Again(f"slower than {RATE:g} bytes per second for {RATE_SECONDS:g} s")
                begun, received = time.monotonic(), 0
    # As requests says it where it reads itself.
    except urllib3.exceptions.ReadTimeoutError as error:
        raise requests.ConnectionError(error) from error
    except urllib3.exceptions.ProtocolError as error:
        raise requests.exceptions.ChunkedEncodingError(error) from error
    except urllib3.exceptions.DecodeError as error:
        raise requests.exceptions.ContentDecodingError(error) from error
    except urllib3.exceptions.SSLError as error:
        raise requests.exceptions.SSLError(error) from error


def _beginning(response: requests.Response, address: str, part: Partial, size: int | None) -> int | None:
    """Prepare for the whole file; return its size if the server announces it."""
    if response.headers.get("Content-Encoding", "identity") != "identity":  # despite our request; offsets are useless
        part.start(address, {}, None)
        return None
    length = response.headers.get("Content-Length", "")
    total = int(length) if _NUMBER.fullmatch(length) else None
    if size is not None and total is not None and total != size:
        raise Failure(f"it has {total:,} bytes there, but {size:,} are pinned")
    part.start(address, response.headers, total)
    return total


def _continuation(response: requests.Response, part: Partial, have: int, note: Mapping[str, str]) -> int | None:
    """Check that the response to a Range request continues the bytes we have; return the total size."""
    span = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes (?:\*|([0-9]{1,18})-[0-9]{1,18})/([0-9]{1,18}|\*)", span)
    begin, whole = (match[1], match[2]) if match else (None, "*")
    total = int(whole) if whole != "*" else None
    # Some servers support Range but not If-Range: compare the file's headers with those of the first response.
    then = {"ETag": note["ETag"], "Last-Modified": note["Last-Modified"], "bytes": note["bytes"]}
    now = {"ETag": response.headers.get("ETag"), "Last-Modified": response.headers.get("Last-Modified"), "bytes": total}
    same = all(now[key] == then[key] for key in now if now[key] is not None and then[key] is not None)
    if response.status_code == 416 and same and total == have:
        part.resumed = True
        return total  # nothing was missing
    if response.status_code == 416 or not same or begin is None or int(begin) != have:
        part.clear()
        raise Again(f"response does not continue the partial file ({response.status_code}, {span!r}); starting over")
    part.file.seek(0, os.SEEK_END)
    part.resumed = True
    log.info("%s: resuming at byte %s", part.path, f"{have:,}")
    return total


def _refusal(response: requests.Response) -> Failure:
    status = response.status_code
    reason = f"{status} {response.reason}"
    return Again(reason, _retry_after(response)) if status in (408, 425, 429) or status >= 500 else Failure(reason)


def _retry_after(response: requests.Response) -> float:
    """Return the seconds that the server asks us to wait, given as a number or a date."""
    value = response.headers.get("Retry-After", "")
    if _NUMBER.fullmatch(value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError, IndexError):
        return 0.0


def _said(error: BaseException) -> str:
    """Describe the innermost cause, beneath the layers of requests and urllib3."""
    problem, inner = "", error.__cause__ or error.__context__
    while inner is not None:
        if isinstance(inner, TimeoutError):
            problem = "timed out"
        elif isinstance(inner, OSError) and inner.strerror:
            problem = inner.strerror
        inner = inner.__cause__ or inner.__context__
    import requests

    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return problem or "the connection broke off"
    return problem or " ".join(str(error).split())[:200]
