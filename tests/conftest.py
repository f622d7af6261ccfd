"""What any test may use: fixtures; a small corpus and sentencepiece models of it; servers and a terminal.

A test takes fixtures by their names, and all else by ``from tests.conftest import ...``, the name that pytest gives
this file (``--import-mode=importlib``). What only the tests of one folder use is in that folder's conftest.py.
"""

from __future__ import annotations

import contextlib
import fcntl
import http.server
import io
import itertools
import json
import logging
import os
import pty
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import threading
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import hypothesis
import numpy as np
import pytest
import sentencepiece
from hypothesis import strategies as st

from psp.models.folder import save_model
from psp.models.scores import tasks_of
from psp.text.published_sets import below, published

# How long an example takes tells of the machine, and of what is compiled or loaded at its first use.
hypothesis.settings.register_profile("psp", deadline=None, max_examples=50)
hypothesis.settings.load_profile("psp")

LEVEL = logging.getLogger().level

# Before torch is imported, in pytest's processes and in whatever they start: threads that spin while they wait for one
# another take the cores of the other processes. Two small translators took 225 s beside two busy processes, 38 s alone.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# A shell starts what it puts in the background deaf to Ctrl-C, and so would be all processes that tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(trylast=True)  # when slow ones are left out already
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that two processes (``pytest -n 2``) end together.

    A test that needs the finished run waits until it is made; those on fresh copies of the project need not. So one
    process makes it first, and the other begins with those.
    """

    def place(item: pytest.Item) -> int:
        fixtures = getattr(item, "fixturenames", ())
        wanted: list[bool] = [
            "project" in fixtures and "finished" not in fixtures,
            "finished" in fixtures,
            "training" in item.path.parts,
        ]
        return [*wanted, True].index(True)

    items.sort(key=place)
    makes_it = next((item for item in items if "finished" in getattr(item, "fixturenames", ())), None)
    if makes_it is not None:
        items.remove(makes_it)
        items.insert(0, makes_it)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Where files differ, say so in a line: pytest's own comparison of two models takes minutes."""
    if op != "==" or not (isinstance(left, bytes) and isinstance(right, bytes)) or len(left) + len(right) < 2000:
        return None
    same = next((place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), "of the shorter")
    return [f"{len(left)} bytes == {len(right)} bytes", f"the first {same} are the same"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """``pytest -n 2``: a file's tests stay together, for they share its fixtures; runs of Snakemake are their own."""
    from xdist.scheduler import LoadScopeScheduling

    # Of those, these have a fixture that takes longer than their tests, which others would wait for.
    together = ("dist", "new_kinds", "grid", "variants")

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            file = nodeid.partition("::")[0]
            folder, _, name = file.rpartition("/test_")
            return nodeid if folder == "tests/workflow" and name.removesuffix(".py") not in together else file

    config.option.loadscopereorder = False  # keep the order above
    return ByFile(config, log)


@pytest.fixture(scope="session")
def psp_data() -> Path:
    """The folder with real data (opus/, paraphrase/, eval/, lid/), named by the environment variable PSP_DATA."""
    folder = os.environ.get("PSP_DATA")
    if not folder:
        pytest.skip("PSP_DATA is not set; it names the folder with real data (opus/, paraphrase/, eval/, lid/)")
    if not Path(folder).is_dir():  # a skip would hide the mistake
        pytest.fail(f"PSP_DATA={folder} is not a folder")
    return Path(folder)


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """A command that a test runs in this process sets logging up; the next test's output must not go there.

    Nor may that of a module's fixtures, which come before this one.
    """
    _quiet()
    yield
    _quiet()


def _quiet() -> None:
    root = logging.getLogger()
    root.setLevel(LEVEL)
    logging.captureWarnings(False)
    for handler in list(root.handlers):
        if not type(handler).__module__.startswith("_pytest"):
            root.removeHandler(handler)
            handler.close()


# ------------------------------------------------------------------------------------------------------- a small corpus

_SUBJECTS = [
    ("the cat", "le chat"),
    ("a dog", "un chien"),
    ("my sister", "ma sœur"),
    ("this old man", "ce vieil homme"),
]
_VERBS = [("eats", "mange"), ("sees", "voit"), ("finds", "trouve"), ("forgets", "oublie"), ("paints", "peint")]
_OBJECTS = [
    ("an apple", "une pomme"),
    ("the river", "la rivière"),
    ("two letters", "deux lettres"),
    ("bread", "du pain"),
]
_PLACES = [("here", "ici"), ("in the garden", "dans le jardin"), ("every morning", "chaque matin")]

PAIRS = [
    (" ".join(part[0] for part in parts), " ".join(part[1] for part in parts))
    for parts in itertools.product(_SUBJECTS, _VERBS, _OBJECTS, _PLACES)
]
SENTENCES = [side for pair in PAIRS for side in pair]

# Text that the model knows, text that it does not, and everything that breaks lines, columns and naive decoders.
_ODD = ["日本", "\u2028", "\x85", "\u200b", "🙂", "▁", " ⁇ ", "<unk>", "\r"]
odd_text = st.one_of(
    st.text(max_size=40),
    st.lists(st.sampled_from([*SENTENCES[:8], *_ODD]), max_size=5).map(" ".join),
)


def write_mixed(path: Path, rows: Iterable[tuple[str, str, object]]) -> Path:
    """A mixed pair file of ``rows``."""
    path.write_bytes("".join(f"{source}\t{target}\t{index}\n" for source, target, index in rows).encode())
    return path


def as_published(body: dict[str, Any]) -> dict[str, Any]:
    """eval.json as if its sets had been the published ones: small sets of ours in their place have other checksums."""
    tasks = {task: found["parts"] for task, found in tasks_of(body).items() if task != "files"}
    names = [f"{task}/{part}" for task, parts in tasks.items() for part in parts if part != "mean"]
    return body | {"sets": {key: one for name in names for key, one in below(name, published()).items()}}


def sentencepiece_of(lines: Iterable[str], **settings: object) -> sentencepiece.SentencePieceProcessor:
    """A sentencepiece model of ``lines``, trained in this process."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(lines), model_writer=model, hard_vocab_limit=False, minloglevel=2, **settings
    )
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())


def train_sentencepiece(path: Path, vocab_size: int = 150, model_type: str = "unigram", **settings: object) -> Path:
    """A sentencepiece model of the small corpus."""
    model = sentencepiece_of(SENTENCES, vocab_size=vocab_size, model_type=model_type, **settings)
    path.write_bytes(model.serialized_model_proto())
    return path


def write_model(folder: Path, dim: int = 12, **config: object) -> Path:
    """A model's folder in ``folder``: its subwords are those of the small corpus, and their vectors random."""
    path = train_sentencepiece(folder / "sp.model")
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(path)).get_piece_size()
    table = np.random.default_rng(1).standard_normal((pieces, dim), dtype=np.float32)
    save_model(folder / "model", table, path, {"languages": ["en", "fr"], "lower_case": True, **config})
    return folder / "model"


def reference_ids(processor: sentencepiece.SentencePieceProcessor, text: str) -> list[int]:
    """The ids of one sentence, the plain way."""
    pieces = processor.encode(text, out_type=int)
    known = [piece for piece in pieces if piece != processor.unk_id()]
    return known or pieces[:1]


def rows_of(block: Any) -> list[list[int]]:
    """The ids of each sentence of a block of ids and offsets."""
    return [block.ids[a:b].tolist() for a, b in zip(block.offsets[:-1], block.offsets[1:], strict=True)]


# ------------------------------------------------------------------------------------------------- programs and servers

ESCAPES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def on_a_terminal(command, columns=100, **options):
    """Run a program whose standard error is a terminal of that width.

    Returns:
        Its status; all that it drew, a frame or line each, without colours and the like.
    """
    ours, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=its, **options)
    os.close(its)
    drawn = b""
    with os.fdopen(ours, "rb", buffering=0) as screen:
        try:
            while data := screen.read(4096):
                drawn += data
        except OSError:  # how Linux says that the other end is closed
            pass
    frames = re.split(r"[\r\n]+", ESCAPES.sub("", drawn.decode()))
    return process.wait(timeout=60), [frame.rstrip() for frame in frames if frame.strip()]


PSP = [sys.executable, "-c", "from psp.cli.main import main; main()"]


def on_a_full_disk(*arguments: object, text: str = "") -> str:
    """The one line with which ``psp`` ends where no file can have more than 2,000 bytes; ``text`` is its input."""
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)); " + PSP[2]
    command = [sys.executable, "-c", code, *map(str, arguments)]
    result = subprocess.run(command, input=text, capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (1, "", 1), result.stderr
    return result.stderr


class Server(NamedTuple):
    """``psp serve``, a process that answers at ``address``, such as http://127.0.0.1:41234/."""

    process: subprocess.Popen[str]
    address: str

    def ask(self, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        """The status and the JSON that answer a GET, or a POST of ``body``."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data, {"Content-Type": "application/json"} | headers)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, json.load(answer)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal; the status with which the server ends, and what it wrote to stderr."""
        self.process.send_signal(number)
        _, stderr = self.process.communicate(timeout=30)
        return self.process.returncode, stderr


@contextlib.contextmanager
def served(model: Path, *options: str) -> Iterator[Server]:
    """Start ``psp serve`` at a free port, and wait for its line."""
    process = subprocess.Popen(
        [*PSP, "serve", str(model), "--port", "0", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        match = re.search(r" is at (http://\S+/) until Ctrl-C\n$", line)
        if match is None:
            process.kill()
            raise AssertionError(line + process.communicate()[1])
        yield Server(process, match[1])
    finally:
        process.kill()
        process.communicate()


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


def write_pair_file(path: Path, rows: Iterable[tuple[str, str]]) -> Path:
    """Write pairs as lines of a user's own file."""
    path.write_text("".join(f"{source}\t{target}\n" for source, target in rows), encoding="utf-8")
    return path


def write_lid(path: Path) -> Path:
    """Train a classifier in fastText's format that knows ``en`` and ``fr`` by the words of the small corpus."""
    import fasttext

    text = path.with_suffix(".lines")
    text.write_text("".join(f"__label__en {a}\n__label__fr {b}\n" for a, b in PAIRS), encoding="utf-8")
    fasttext.FastText.eprint = lambda *_: None
    model = fasttext.train_supervised(
        str(text), dim=4, epoch=20, lr=1, bucket=1000, minn=2, maxn=3, thread=1, verbose=0
    )
    model.save_model(str(path))
    return path


#: Programs that may be a browser, and their arguments: no request of their own, and no host but this machine.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
QUIET = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP *.example 127.0.0.1",
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="a page's tests need pip install playwright")
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        pytest.skip(f"no browser is installed ({', '.join(BROWSERS)}): apt-get install chromium")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=QUIET)
        yield browser
        browser.close()


def parts(body, task):
    """The parts of a task of an evaluation, by name; none where it was not scored on it."""
    return body["tasks"].get(task, {"parts": {}})["parts"]
