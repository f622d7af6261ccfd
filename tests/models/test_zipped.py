"""Models in a .zip on the web: the same vectors, once downloaded, and nothing that is not the model's."""

from __future__ import annotations

import hashlib
import json
import zipfile
from collections.abc import Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

import psp
from psp.core.errors import DataError, DownloadError
from psp.models import zipped
from tests.conftest import write_model

TEXTS = ["the cat eats bread", "le chat mange du pain", ""]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_model(tmp_path_factory.mktemp("made"), 8, recipe="psp")


class Web:
    """A folder on the web, and what was asked of it."""

    def __init__(self, folder: Path) -> None:
        self.asked: list[str] = []
        web = self

        class Handler(SimpleHTTPRequestHandler):
            def __init__(self, *arguments: object) -> None:
                super().__init__(*arguments, directory=str(folder))  # type: ignore[arg-type]

            def do_GET(self) -> None:
                web.asked.append(self.path)
                super().do_GET()

            def log_message(self, *arguments: object) -> None:
                pass

        self.folder = folder
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()

    def put(self, name: str, members: dict[str, bytes]) -> str:
        """Put a .zip there; return its address, with its checksum."""
        path = self.folder / name
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for member, content in members.items():
                archive.writestr(member, content)
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        return f"http://127.0.0.1:{self.server.server_port}/{name}#sha256={digest}"


@pytest.fixture
def web(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Web]:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "web").mkdir()
    made = Web(tmp_path / "web")
    yield made
    made.server.shutdown()
    made.server.server_close()


def members(model: Path, place: str = "") -> dict[str, bytes]:
    return {place + path.name: path.read_bytes() for path in model.iterdir()}


@pytest.mark.parametrize("place", ["", "fr-int8/"])
def test_the_model_of_an_address_is_that_of_its_folder(web: Web, model: Path, place: str) -> None:
    odd = {"../out.txt": b"out", "/tmp/psp-out.txt": b"out", f"{place}train.py": b"print()", "a/b/config.json": b"{}"}
    address = web.put("fr.zip", members(model, place) | odd)
    loaded = psp.load_model(address)
    assert (loaded.encode(TEXTS) == psp.load_model(model).encode(TEXTS)).all()
    # Once, and the model's own files alone.
    asked = len(web.asked)
    assert asked and psp.Model.from_pretrained(address, dim=4).dim == 4 and len(web.asked) == asked
    (folder,) = [path for path in zipped.cache().iterdir() if path.is_dir()]
    assert {path.name for path in folder.iterdir()} == set(members(model)) - {"SHA256SUMS"}
    assert {path.name for path in zipped.cache().iterdir()} == {folder.name, f"{folder.name}.json"}
    assert not (web.folder.parent / "out.txt").exists() and not Path("/tmp/psp-out.txt").exists()


@pytest.mark.parametrize("damage", ["missing", "flipped"])
def test_a_damaged_model_of_the_cache_is_fetched_again(web: Web, model: Path, damage: str, caplog: Any) -> None:
    address = web.put("fr.zip", members(model))
    wanted = psp.load_model(address).encode(TEXTS)
    (folder,) = [path for path in zipped.cache().iterdir() if path.is_dir()]
    weights = folder / "model.safetensors"
    if damage == "missing":
        weights.unlink()
    else:
        data = bytearray(weights.read_bytes())
        data[-5] ^= 1
        weights.write_bytes(data)
    assert (psp.load_model(address).encode(TEXTS) == wanted).all()
    assert "it is fetched again" in caplog.text and weights.read_bytes() == (model / "model.safetensors").read_bytes()
    # Without the web, what is there stays.
    (folder / "sentencepiece.model").unlink()
    (web.folder / "fr.zip").unlink()
    with pytest.raises(DownloadError):
        psp.load_model(address)
    assert weights.is_file()


def test_an_address_without_a_checksum(web: Web, model: Path) -> None:
    address = web.put("fr.zip", members(model)).partition("#")[0]
    with pytest.raises(DataError, match=r"fr\.zip: has no checksum; end it with #sha256="):
        psp.load_model(address)
    assert not web.asked


def test_another_file_than_its_checksum_says(web: Web, model: Path) -> None:
    address = web.put("fr.zip", members(model))
    web.put("fr.zip", members(model) | {"new.txt": b"new"})
    with pytest.raises(DownloadError, match="sha256") as refused:
        psp.load_model(address)
    assert "config" not in str(refused.value)  # there is none to change
    assert not [path for path in zipped.cache().iterdir() if path.is_dir()]


def test_what_is_no_model(web: Web, model: Path) -> None:
    files = members(model)
    bomb = files | {"model.safetensors": bytes(20 << 20)}
    named = json.loads(files["config.json"]) | {"format": 1, "tokenizer": {"kind": "word", "files": {"../x": "0" * 64}}}
    cases = {
        "has no config.json": {"a.txt": b"a"},
        "has no model.safetensors, but its config.json lists it": {"config.json": files["config.json"]},
        "not JSON": {"config.json": b"{"},
        "is not a name of a tokenizer's file": {"config.json": json.dumps(named).encode()},
        "times its size unpacked": bomb,
    }
    for problem, content in cases.items():
        with pytest.raises(DataError, match=problem):
            psp.load_model(web.put("fr.zip", content))
    assert not [path for path in zipped.cache().iterdir() if path.suffix != ".json"]
