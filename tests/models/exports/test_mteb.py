"""mteb's own runner gives an export and a server psp's scores."""

from __future__ import annotations

import importlib.util
import random
import socket

import numpy as np
import pytest

import psp
from phrasebook.sts import pairs
from psp.evaluation.evaluate import EmbeddingScorer, evaluate
from psp.evaluation.testsets import YEARS, StsSource
from psp.models.exports import export
from psp.models.folder import save_model
from psp.models.scores import by_place
from tests.conftest import served

pytestmark = [
    pytest.mark.slow,  # mteb, datasets and sentence-transformers are imported in 9 s
    pytest.mark.skipif(importlib.util.find_spec("mteb") is None, reason="mteb is not installed (the extra mteb)"),
]


@pytest.fixture(scope="module")
def folder(model, tmp_path_factory):
    """The folder of a model called fr."""
    folder = tmp_path_factory.mktemp("results") / "fr/model"
    save_model(folder, model.weight, model.sentencepiece_model, model.config)
    return folder


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """Nothing but this machine can be reached. Also what was asked for elsewhere, which must be nothing."""
    asked = []

    def here(host):
        return host in (None, "", "localhost", "127.0.0.1", "::1", b"localhost", b"127.0.0.1")

    def refusing(method):
        def connect(self, address):
            if self.family in (socket.AF_INET, socket.AF_INET6) and not here(address[0]):
                asked.append(address)
                raise ConnectionRefusedError(f"a test must not reach {address}")
            return method(self, address)

        return connect

    def getaddrinfo(host, *arguments, look_up=socket.getaddrinfo, **options):
        if not here(host):
            asked.append(host)
            raise socket.gaierror(socket.EAI_NONAME, f"a test must not look up {host}")
        return look_up(host, *arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refusing(socket.socket.connect))
        patch.setattr(socket.socket, "connect_ex", refusing(socket.socket.connect_ex))
        patch.setattr(socket, "getaddrinfo", getaddrinfo)
        for name in ("HF_HUB_OFFLINE", "HF_DATASETS_OFFLINE", "TRANSFORMERS_OFFLINE"):
            patch.setenv(name, "1")
        patch.setenv("MTEB_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield asked
    assert asked == []


def test_no_other_machine_can_be_reached(alone):
    with pytest.raises(ConnectionRefusedError), socket.socket() as one:
        one.connect(("192.0.2.1", 443))
    with pytest.raises(socket.gaierror):
        socket.create_connection(("huggingface.co", 443))
    assert alone == [("192.0.2.1", 443), "huggingface.co"]
    alone.clear()


@pytest.fixture(scope="module", params=["generated", pytest.param("real", marks=pytest.mark.slow)])
def sts(request, tmp_path_factory):
    """The STS Benchmark and STS 2012: the published ones, or the demo's generated pairs in their layout."""
    if request.param == "real":
        return request.getfixturevalue("psp_data") / "eval/sts"
    folder, seen = tmp_path_factory.mktemp("sts"), set()
    drawn = list(pairs(random.Random(5), 300, seen))
    random.Random(6).shuffle(drawn)  # the last ones drawn are much alike in score
    (folder / "STSBenchmark").mkdir()
    for part in ("dev", "test"):
        rows = "".join(f"genre\tfile\tyear\t0\t{pair.score}\t{pair.first}\t{pair.second}\n" for pair in drawn[:200])
        (folder / f"STSBenchmark/sts-{part}.csv").write_text(rows)
    (folder / "STS12-en-test").mkdir()
    for number, name in enumerate(YEARS["2012"]):
        some = drawn[200 + number :: 5]
        (folder / f"STS12-en-test/STS.input.{name}.txt").write_text("".join(f"{p.first}\t{p.second}\n" for p in some))
        (folder / f"STS12-en-test/STS.gs.{name}.txt").write_text("".join(f"{pair.score}\n" for pair in some))
    return folder


@pytest.fixture(scope="module")
def expected(folder, sts):
    """psp's own Spearman x 100 of the model."""
    body = evaluate(EmbeddingScorer(psp.load_model(folder)), languages=["en"], sts=sts, resamples=2)
    known = by_place(body)
    return {"STSBenchmark": known["stsb", "test", "spearman"].value, "STS12": known["sts", "2012", "spearman"].value}


@pytest.fixture(scope="module")
def tasks(alone, sts):
    """mteb's tasks, with their data."""
    import mteb
    from datasets import Dataset

    with StsSource(sts) as source:
        sets = {
            "STSBenchmark": [source.benchmark("test")],
            "STS12": [source.semeval("2012", name) for name in YEARS["2012"]],
        }
    made = []
    for name, data in sets.items():
        task = mteb.get_task(name)
        columns = {
            "sentence1": [text for one in data for text in one.a],
            "sentence2": [text for one in data for text in one.b],
            "score": np.concatenate([one.gold for one in data]),
        }
        task.dataset = {"default": {"test": Dataset.from_dict(columns)}}
        task.data_loaded = True
        made.append(task)
    return made


def spearman(model, tasks):
    """mteb's cosine Spearman x 100 of each task."""
    import mteb

    # No cache: it knows a model by its name, and another of this name may have been there.
    result = mteb.evaluate(model, tasks, cache=None, co2_tracker=False, show_progress_bar=False)
    return {one.task_name: 100 * one.scores["test"][0]["cosine_spearman"] for one in result.task_results}


def test_the_sentence_transformers_export_has_psps_scores(folder, tasks, expected, tmp_path):
    from sentence_transformers import SentenceTransformer

    export("sentence-transformers", psp.load_model(folder), tmp_path / "out", [])
    model = SentenceTransformer(str(tmp_path / "out"), device="cpu", trust_remote_code=True)
    assert spearman(model, tasks) == pytest.approx(expected, abs=0.1)


def test_a_server_has_psps_scores(folder, tasks, expected):
    from mteb.models import OpenAIAPIEncodeWrapper

    with served(folder) as server:
        model = OpenAIAPIEncodeWrapper(server.address, "fr", use_chat_template=False, modalities=["text"])
        assert spearman(model, tasks) == pytest.approx(expected, abs=0.1)
