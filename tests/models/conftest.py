"""A model of random embeddings; and a hub: the part of Hugging Face's HTTP interface that models go through.

It is on 127.0.0.1, and huggingface_hub itself talks to it (HF_ENDPOINT), so that what is tested is what it really sends
and accepts: making repositories and branches, git-lfs uploads, commits, listings, downloads, and the hub's errors.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

import numpy as np
import pytest
import yaml

from psp.models.folder import save_model
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.conftest import train_sentencepiece

TOKEN = "hf_of_the_owner"
DIM = 12
CONFIG = {"languages": ["en", "fr"], "lower_case": False, "segment": {}, "recipe": "psp"}


@pytest.fixture(scope="session")
def sentencepiece_model(tmp_path_factory):
    return train_sentencepiece(tmp_path_factory.mktemp("sp") / "sp.model")


@pytest.fixture(scope="session")
def table(sentencepiece_model):
    pieces = load_sentencepiece(sentencepiece_model).get_piece_size()
    return np.random.default_rng(1).standard_normal((pieces, DIM), dtype=np.float32)


@pytest.fixture
def folder(tmp_path, table, sentencepiece_model):
    save_model(tmp_path / "model", table, sentencepiece_model, CONFIG)
    return tmp_path / "model"


@pytest.fixture(scope="session")
def transformer_base(tmp_path_factory):
    """A transformer that is not trained, as a library has it."""
    pytest.importorskip("sentence_transformers", reason="not installed (pip install 'paraphrastic[transformer]')")
    from tests.training.transformer.conftest import make_base

    return make_base(tmp_path_factory.mktemp("transformer") / "base")


@pytest.fixture(scope="session")
def transformer(transformer_base):
    """A transformer as psp writes it, not trained, with LSTM pooling."""
    from psp.config.blocks.transformer import TransformerSettings
    from psp.models.transformer import save_transformer
    from psp.training.transformer.base import build

    settings = TransformerSettings(pooling="lstm", dim=12, max_length=16)
    config = {"languages": ["aa", "bb"], "recipe": "psp", "prompts": {"query": "Baba "}}
    encoder = {"pooling": "lstm", "max_length": 16}
    save_transformer(transformer_base.parent / "model", build(transformer_base, settings, "cpu"), config, encoder)
    return transformer_base.parent / "model"


class Hub:
    """Repositories in memory. ``requests`` has each request as "METHOD path"; ``cut`` a file sent by half."""

    def __init__(self) -> None:
        self.commits: dict[str, dict[str, dict[str, bytes]]] = {}
        self.branches: dict[str, dict[str, str]] = {}
        self.private: dict[str, bool | None] = {}
        self.messages: list[str] = []
        self.blobs: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.cut: str | None = None
        self._numbers = itertools.count()
        hub = self

        class Handler(_Handler):
            pass

        Handler.hub = hub
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def create(self, repo: str, private: bool | None = None) -> None:
        self.private[repo] = private
        self.commits[repo], self.branches[repo] = {}, {}
        self.commit(repo, "main", {".gitattributes": b"*.safetensors filter=lfs\n"})

    def commit(self, repo: str, branch: str, files: dict[str, bytes]) -> str:
        before = self.commits[repo].get(self.branches[repo].get(branch, ""), {})
        number = hashlib.sha1(b"%d" % next(self._numbers)).hexdigest()
        self.commits[repo][number] = before | files
        self.branches[repo][branch] = number
        return number

    def files(self, repo: str, revision: str = "main") -> dict[str, bytes]:
        return self.commits[repo][self.branches[repo].get(revision, revision)]


class _Error(Exception):
    def __init__(self, status: int, code: str) -> None:
        self.status, self.code = status, code


class _Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._answer()

    do_HEAD = do_POST = do_PUT = do_GET

    def _answer(self) -> None:
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.hub.requests.append(f"{self.command} {path}")
        try:
            for pattern, method in self._ROUTES:
                if match := re.fullmatch(pattern, path):
                    method(self, body, **match.groupdict())
                    return
            raise _Error(404, "EntryNotFound")
        except _Error as error:
            self._send(error.status, b'{"error": "as asked"}', {"X-Error-Code": error.code})

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None, sent: int | None = None) -> None:
        self.send_response(status)
        for key, value in {"Content-Length": str(len(body)), **(headers or {})}.items():
            self.send_header(key, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:sent])
        if sent is not None:
            self.close_connection = True

    def _json(self, value: Any) -> None:
        self._send(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def _owner(self) -> bool:
        return self.headers.get("Authorization") == f"Bearer {TOKEN}"

    def _must_own(self) -> None:
        if not self._owner():
            raise _Error(401, "Unauthorized")

    def _at(self, repo: str, revision: str) -> tuple[str, dict[str, bytes]]:
        # The hub answers 401 to those who are not logged in: it does not tell what is private.
        if repo not in self.hub.commits or (self.hub.private[repo] and not self._owner()):
            raise _Error(404, "RepoNotFound") if self._owner() else _Error(401, "RepoNotFound")
        number = self.hub.branches[repo].get(revision, revision)
        if number not in self.hub.commits[repo]:
            raise _Error(404, "RevisionNotFound")
        return number, self.hub.commits[repo][number]

    def _create(self, body: bytes) -> None:
        self._must_own()
        asked = json.loads(body)
        repo = f"{asked['organization']}/{asked['name']}"
        if repo in self.hub.commits:
            self._send(409, json.dumps({"error": "exists", "url": f"{self.hub.endpoint}/{repo}"}).encode())
            return
        # By huggingface_hub's version.
        self.hub.create(repo, asked.get("private") or asked.get("visibility") == "private")
        self._json({"url": f"{self.hub.endpoint}/{repo}"})

    def _yaml(self, body: bytes) -> None:
        front = json.loads(body)["content"].split("---\n")[1]
        errors = []
        if not all(isinstance(code, str) for code in yaml.safe_load(front).get("language", [])):
            errors = [{"message": "a language is no text"}]
        self._send(400 if errors else 200, json.dumps({"errors": errors, "warnings": []}).encode())

    def _branch(self, body: bytes, repo: str, revision: str) -> None:
        self._must_own()
        if revision in self.hub.branches[repo]:
            raise _Error(409, "Conflict")
        self.hub.branches[repo][revision] = self.hub.branches[repo]["main"]
        self._json({})

    def _preupload(self, body: bytes, repo: str, revision: str) -> None:
        self._must_own()
        self._at(repo, revision)
        mode = {True: "lfs", False: "regular"}
        self._json(
            {
                "files": [
                    {
                        "path": file["path"],
                        "uploadMode": mode[file["path"].endswith((".safetensors", ".model"))],
                        "shouldIgnore": False,
                    }
                    for file in json.loads(body)["files"]
                ]
            }
        )

    def _batch(self, body: bytes, repo: str) -> None:
        self._must_own()
        objects = []
        for wanted in json.loads(body)["objects"]:
            upload = {"upload": {"href": f"{self.hub.endpoint}/lfs/{wanted['oid']}"}}
            objects.append(wanted if wanted["oid"] in self.hub.blobs else {**wanted, "actions": upload})
        self._json({"transfer": "basic", "objects": objects})

    def _blob(self, body: bytes, number: str) -> None:
        assert hashlib.sha256(body).hexdigest() == number
        self.hub.blobs[number] = body
        self._send(200, b"")

    def _commit(self, body: bytes, repo: str, revision: str) -> None:
        self._must_own()
        files = {}
        for line in body.split(b"\n"):
            if not line:
                continue
            item = json.loads(line)
            value = item["value"]
            if item["key"] == "header":
                self.hub.messages.append(value["summary"])
            elif item["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif item["key"] == "lfsFile":
                files[value["path"]] = self.hub.blobs[value["oid"]]
        number = self.hub.commit(repo, revision, files)
        self._json({"commitUrl": f"{self.hub.endpoint}/{repo}/commit/{number}", "commitOid": number})

    def _info(self, body: bytes, repo: str, revision: str = "main") -> None:
        number, files = self._at(repo, revision)
        self._json({"id": repo, "modelId": repo, "sha": number, "siblings": [{"rfilename": name} for name in files]})

    def _tree(self, body: bytes, repo: str, revision: str) -> None:
        _, files = self._at(repo, revision)
        rows = [
            {"type": "file", "path": name, "size": len(data), "oid": hashlib.sha1(data).hexdigest()}
            for name, data in files.items()
        ]
        self._json(rows)

    def _resolve(self, body: bytes, repo: str, revision: str, file: str) -> None:
        number, files = self._at(repo, revision)
        if file not in files:
            raise _Error(404, "EntryNotFound")
        data = files[file]
        headers = {"X-Repo-Commit": number, "ETag": f'"{hashlib.sha1(data).hexdigest()}"'}
        cut = self.command == "GET" and file == self.hub.cut
        first = int(self.headers.get("Range", "bytes=0-").removeprefix("bytes=").rstrip("-"))
        if first:
            headers["Content-Range"] = f"bytes {first}-{len(data) - 1}/{len(data)}"
        self._send(206 if first else 200, data[first:], headers, sent=len(data[first:]) // 2 if cut else None)

    _REPO = r"(?P<repo>[^/]+/[^/]+)"
    _ROUTES = (
        (r"/api/repos/create", _create),
        (r"/api/validate-yaml", _yaml),
        (rf"/api/models/{_REPO}/branch/(?P<revision>.+)", _branch),
        (rf"/api/models/{_REPO}/preupload/(?P<revision>.+)", _preupload),
        (rf"/{_REPO}\.git/info/lfs/objects/batch", _batch),
        (r"/lfs/(?P<number>\w+)", _blob),
        (rf"/api/models/{_REPO}/commit/(?P<revision>.+)", _commit),
        (rf"/api/models/{_REPO}/revision/(?P<revision>.+)", _info),
        (rf"/api/models/{_REPO}", _info),
        (rf"/api/models/{_REPO}/tree/(?P<revision>.+)", _tree),
        (rf"/{_REPO}/resolve/(?P<revision>[^/]+)/(?P<file>.+)", _resolve),
    )
