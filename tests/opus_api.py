"""OPUS's API on a loopback port, with answers in its documented form (https://opus.nlpl.eu/opusapi/)."""

from __future__ import annotations

import contextlib
import http.server
import json
import threading
import urllib.parse
from collections.abc import Iterator
from typing import Any


def entry(
    corpus: str, version: str, pair: str, pairs: int | str, size: int = 1000, latest: bool = True
) -> dict[str, Any]:
    """A corpus as the API describes it."""
    source, target = pair.split("-")
    return {
        "alignment_pairs": pairs,
        "corpus": corpus,
        "documents": "",
        "id": 31736,
        "latest": str(latest),
        "preprocessing": "moses",
        "size": size,
        "source": source,
        "source_tokens": 73463,
        "target": target,
        "target_tokens": 68625,
        "url": f"https://object.pouta.csc.fi/OPUS-{corpus}/{version}/moses/{pair}.txt.zip",
        "version": version,
    }


SWAHILI = [
    entry("CCMatrix", "v1", "en-sw", 5_756_664, 453_000),
    entry("GNOME", "v1", "en-sw", 40),
    entry("GlobalVoices", "v2017q3", "en-sw", 26_041, latest=False),
    entry("GlobalVoices", "v2018q4", "en-sw", 32_307, 3_500),
    entry("OpenSubtitles", "v2024", "en-sw", 123_456, 4_000),
    entry("QED", "v2.0a", "en-sw", 18_192, 1_100),
    entry("TED2020", "v1", "en-sw", 9_745, 1_050),
    entry("Tanzil", "v1", "en-sw", 138_253, 10_600),
    entry("Tatoeba", "v2023-04-12", "en-sw", 3_401, 90),
    entry("Wikipedia", "v1syn", "en-sw", 3_300_000, 250_000),
    entry("XLEnt", "v1.2", "en-sw", 321_000, 4_000),
    entry("bible-uedin", "v1", "en-sw", 7_821, 800),
    entry("infopankki", "v1", "so-sw", 1_000),
]


class Api:
    """The server's ``entries``, the queries ``asked`` of it, and a ``fault``: (status, body) in place of any answer."""

    def __init__(self, entries: list[dict[str, Any]]) -> None:
        self.entries, self.asked = entries, list[dict[str, str]]()
        self.fault: tuple[int, bytes] | None = None
        self.address = ""

    def answer(self, query: dict[str, str]) -> Any:
        query = {key: value for key, value in query.items() if not (key == "version" and value == "latest")} | (
            {"latest": "True"} if query.get("version") == "latest" else {}
        )
        if query.pop("languages", None):
            source = query.pop("source")
            found = [entry for entry in self.entries if self._fits(entry, query)]
            beside = {e["target"] for e in found if e["source"] == source} | {
                e["source"] for e in found if e["target"] == source
            }
            return {"languages": sorted(beside)}
        query["source"], query["target"] = sorted((query["source"], query["target"]))
        return {"corpora": [entry for entry in self.entries if self._fits(entry, query)]}

    @staticmethod
    def _fits(entry: dict[str, Any], query: dict[str, str]) -> bool:
        return all(entry[key] == value for key, value in query.items())


@contextlib.contextmanager
def opus_api(entries: list[dict[str, Any]]) -> Iterator[Api]:
    """Serve the API; its ``address`` goes into ``sources.opus.api``."""
    api = Api(entries)

    class Handler(http.server.BaseHTTPRequestHandler):
        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
            api.asked.append(query)
            status, body = api.fault or (200, json.dumps(api.answer(query)).encode())
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        api.address = f"http://127.0.0.1:{server.server_port}/opusapi/"
        yield api
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
