"""The speed measurement: what is measured, under which conditions, and what is written; never how fast."""

from __future__ import annotations

import json
import os
import statistics
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.config.blocks.evaluation import SpeedBlock
from psp.core.errors import DataError
from psp.core.machine import usable_cores
from psp.evaluation.speed import worker
from psp.evaluation.speed.measure import exported, measure_speed
from psp.evaluation.speed.systems import OWN, PEERS
from psp.evaluation.speed.worker import THREAD_VARIABLES, Broken, Process, batches, sample, write_sentences
from psp.models.combined import CombinedModel
from psp.models.exports import export
from psp.models.static import StaticModel
from psp.pairs.store import write_store
from psp.report.speed_chart import draw, table
from psp.text.parts_tokenizer import PartsTokenizer
from psp.text.trigram_tokenizer import TrigramTokenizer, trigrams
from tests.conftest import PAIRS, train_sentencepiece, write_mixed, write_model

CONFIG = {"languages": ["en", "fr"], "lower_case": True}
NUMPY, NUMBA = "psp float32, NumPy", "psp float32, numba"


def store(folder, model):
    mixed = write_mixed(folder / "mix.tsv", ((*pair, 0) for pair in PAIRS))
    write_store(mixed, model, folder / "store.h5", languages=["en", "fr"], corpora=["Books"])
    return folder / "store.h5"


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("trained")
    return write_model(folder, dim=8), store(folder, folder / "sp.model")


@pytest.mark.slow
def test_sentences_of_a_file_and_any_model_of_sentence_transformers(trained, tmp_path):
    pytest.importorskip("sentence_transformers")
    export("static-embedding", StaticModel.load(trained[0]), tmp_path / "theirs", ["the cat", "le chat"])
    (tmp_path / "own.txt").write_text("the cat eats\n\nle chat mange\n")
    peer = f"sentence-transformers:{tmp_path / 'theirs'}"
    result = measure_speed(
        *trained, tmp_path / "speed.json", sentences=str(tmp_path / "own.txt"), repeats=3, own=[], peers=[peer]
    )
    assert result["sentences"] == result["asked"] == 2
    assert result["source"] == f"2 sentences of {tmp_path / 'own.txt'}"
    rows = [row for row in result["systems"] if row["name"] == peer]
    assert rows and all(row["warm"]["median"] > 0 and row["forward"] is not None for row in rows)
    draw(result, tmp_path / "speed.png")
    (tmp_path / "own.txt").write_text("\n")
    with pytest.raises(DataError, match=r"own\.txt: no sentences"):
        measure_speed(*trained, tmp_path / "speed.json", sentences=tmp_path / "own.txt")


@pytest.mark.slow
def test_each_system_on_one_core_and_on_all_but_a_peer_that_breaks_and_is_named(trained, tmp_path, monkeypatch):
    pytest.importorskip("model2vec")
    pytest.importorskip("onnxruntime")

    def damaged(form, model, out):
        exported(form, model, out)
        if form == "onnx":
            (out / "model.onnx").write_bytes(b"half a graph")

    settings = {"sentences": 100, "batch_size": 8, "repeats": 3, "own": [NUMBA], "peers": ["model2vec", "ONNX export"]}
    monkeypatch.setattr("psp.evaluation.speed.measure.exported", damaged)
    result = measure_speed(*trained, tmp_path / "speed.json", **settings)
    draw(result, tmp_path / "speed.png")
    assert json.loads((tmp_path / "speed.json").read_text()) == result
    counts = sorted({1, len(usable_cores())})
    names = [NUMPY, NUMBA, "model2vec"]
    assert [(row["name"], row["cores"]) for row in result["systems"]] == [(n, c) for c in counts for n in names]
    for row in result["systems"]:
        assert row["agreement"] == 1.0  # the same table, the same vectors
        assert row["sentences"] == result["sentences"] == 100
        assert row["load_seconds"] > 0 and row["dim"] == 8
        assert (row["forward"] is None) == (row["name"] == "model2vec") == (row["no_forward"] is not None)
        for rates in filter(None, (row["cold"], row["warm"], row["forward"])):
            assert len(rates["passes"]) == 3
            assert rates["median"] == statistics.median(rates["passes"]) > 0
            assert (rates["min"], rates["max"]) == (min(rates["passes"]), max(rates["passes"]))
    (broken,) = result["missing"]
    assert broken["name"] == "ONNX export"
    assert "its process ended with status 1" in broken["why"] and "model.onnx" in broken["why"]
    # The sentences are sources, then targets of the first pairs.
    sentences = [pair[side] for side in (0, 1) for pair in PAIRS[:50]]
    ids, _ = StaticModel.load(trained[0]).ids(sentences)
    conditions = result["conditions"]
    assert conditions["mean_pieces"] == pytest.approx(len(ids) / 100, abs=1e-3)
    assert result["source"] == f"the first 50 of {len(PAIRS)} pairs of its training data: Books"
    assert (conditions["dim"], conditions["batch_size"], conditions["repeats"]) == (8, 8, 3)
    assert conditions["cpu"] and set(conditions["versions"]) >= {"psp", "numpy", "model2vec", "python"}


@pytest.mark.slow
def test_a_small_store_and_what_is_not_there(trained, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "model2vec", None)
    monkeypatch.setattr("psp.evaluation.speed.systems.GPUS", (str(tmp_path / "none"),))
    chosen = {"own": [], "peers": ["model2vec", "EmbeddingBag, GPU"]}
    result = measure_speed(*trained, tmp_path / "speed.json", sentences=10**6, repeats=3, **chosen)
    assert (result["sentences"], result["asked"]) == (2 * len(PAIRS), 10**6)
    assert {row["name"] for row in result["systems"]} == {NUMPY}
    assert [one["name"] for one in result["missing"]] == chosen["peers"]
    lines = table(result).notes
    assert "Not measured: model2vec (model2vec is not installed: pip install 'paraphrastic[peers]')" in lines
    assert "Not measured: EmbeddingBag, GPU (there is no GPU)" in lines
    below = " ".join(lines)
    assert "Not requested (speed: own): psp float16, NumPy; psp int8, NumPy; psp float32, numba; " in below
    assert "Not requested (speed: peers): StaticEmbedding; ONNX export; MiniLM; USE; " in below
    assert NUMPY not in below


def test_a_store_of_another_model_is_refused(trained, tmp_path):
    (tmp_path / "other").mkdir()
    other = store(tmp_path / "other", train_sentencepiece(tmp_path / "other" / "sp.model", vocab_size=60))
    with pytest.raises(DataError, match="another vocabulary"):
        measure_speed(trained[0], other, tmp_path / "speed.json")
    assert not (tmp_path / "speed.json").exists()


@pytest.mark.parametrize("together", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_combination_is_measured_whole(trained, together, tmp_path):
    """On the pairs of its first model, or on those that all parts were trained on together."""
    pytest.importorskip("onnxruntime")
    runs = sorted({run for pair in PAIRS for side in pair for run in trigrams(side.lower())})
    tokenizer = TrigramTokenizer([(run, 2) for run in runs])
    table = np.random.default_rng(2).standard_normal((len(tokenizer), 4)).astype(np.float32)
    first, second = StaticModel.load(trained[0]), StaticModel(table, tokenizer, CONFIG)
    CombinedModel([first, second], [1, 0.5]).save(tmp_path / "model")
    pairs = trained[1]
    if together:
        pairs = store(tmp_path, PartsTokenizer([first.tokenizer, second.tokenizer], CONFIG))
    peers = ["StaticEmbedding", "ONNX export", "EmbeddingBag, GPU"]
    result = measure_speed(
        tmp_path / "model", pairs, tmp_path / "speed.json", sentences=100, repeats=1, own=[], peers=peers
    )
    sentences = [pair[side] for side in (0, 1) for pair in PAIRS[:50]]
    ids = [part.ids(sentences)[0] for part in (first, second)]
    assert result["conditions"]["mean_pieces"] == pytest.approx(sum(map(len, ids)) / 100, abs=1e-3)
    assert result["conditions"]["vocab_size"] == first.vocab_size + len(tokenizer)
    assert {row["name"] for row in result["systems"]} == {NUMPY, "ONNX export"}
    for row in result["systems"]:
        assert (row["dim"], row["agreement"]) == (12, 1.0) and row["forward"] is not None
    reasons = {one["name"]: one["why"] for one in result["missing"]}
    assert "has one vocabulary, and a combination of models several" in reasons["StaticEmbedding"]
    assert "a combination" in reasons["EmbeddingBag, GPU"]


@pytest.fixture
def task(trained, tmp_path):
    """What the processes are given."""
    texts = [source for source, _ in PAIRS]
    write_sentences(tmp_path, texts, [StaticModel.load(trained[0]).ids(texts)])
    return {"folder": str(trained[0]), "sentences": str(tmp_path), "batch_size": 8, "seconds": 1}


@pytest.mark.parametrize("name", [NUMPY, pytest.param(NUMBA, marks=pytest.mark.slow)])
def test_one_core_is_one_core_for_every_thread(task, name):
    core = usable_cores()[-1]
    with Process(name, task, [core]) as process:
        assert process.answer()["sentences"] == len(PAIRS)
        assert all(seconds > 0 for seconds in process.round().values())
        root = Path(f"/proc/{process.process.pid}")
        allowed = {
            line.split()[1]
            for thread in (root / "task").iterdir()
            for line in (thread / "status").read_text().split("\n")
            if line.startswith("Cpus_allowed_list")
        }
        environment = (root / "environ").read_bytes().decode().split("\0")
    assert allowed == {str(core)}
    assert {f"{variable}=1" for variable in THREAD_VARIABLES} | {"TOKENIZERS_PARALLELISM=false"} <= set(environment)


def test_slow_systems_embed_an_even_sample():
    texts = [str(number) for number in range(1000)]
    assert sample(len, texts, seconds=1e9).tolist() == list(range(1000))
    assert sample(len, texts, seconds=0.0).tolist() == [int(number * 1000 / 64) for number in range(64)]


def test_cold_is_a_new_model_and_warm_the_same(task, monkeypatch):
    """What a round does, in this process: the first pass loads what the second finds loaded."""
    done, answers = [], []

    def kind(*_):
        def load():
            done.append("load")
            return lambda texts: done.append(len(texts)) or np.ones((len(texts), 8)), None

        return load

    monkeypatch.setitem(worker.KINDS, "psp", kind)
    monkeypatch.setattr(worker, "bind", lambda cores: None)
    monkeypatch.setattr("sys.stdin", ["\n", "\n"])
    worker.serve(NUMPY, [0], **task, answer=answers.append)
    count = len(PAIRS)
    assert done == ["load", 1, count, *(2 * ["load", count, count])]
    assert [set(answer) for answer in answers[1:]] == [{"cold", "warm"}] * 2


def test_a_process_that_dies_says_why(task):
    why = r"psp float32, NumPy: its process ended with status 1: .*/nowhere: no such"
    nowhere = Process(NUMPY, {**task, "folder": "/nowhere"}, usable_cores())
    with nowhere, pytest.raises(Broken, match=why):
        nowhere.answer()
    with Process(NUMPY, task, usable_cores()) as process:
        os.kill(process.process.pid, 9)
        with pytest.raises(Broken, match="status -9"):
            process.round()


@given(st.lists(st.lists(st.integers(0, 9), min_size=2, max_size=2), max_size=40), st.integers(1, 2), st.integers(1, 7))
def test_batches_are_sorted_and_whole(lengths, parts, size):
    """Each sentence with its ids by each part; sorted by their number by all parts."""
    lengths = [own[:parts] for own in lengths]
    offsets = [np.cumsum([0, *(own[part] for own in lengths)]) for part in range(parts)]
    texts = [f"{i} of {sum(own)}" for i, own in enumerate(lengths)]
    of_texts, of_ids = batches(texts, [(np.arange(ends[-1]), ends) for ends in offsets], size)
    assert all(len(batch) == size for batch in of_texts[:-1])
    flat = [text for batch in of_texts for text in batch]
    assert sorted(flat) == sorted(texts)
    assert [int(text.split()[-1]) for text in flat] == sorted(map(sum, lengths))
    for batch, streams in zip(of_texts, of_ids, strict=True):
        assert [len(ends) - 1 for _, ends in streams] == [len(batch)] * parts
        for (ids, ends), own in zip(streams, offsets, strict=True):
            for text, first, last in zip(batch, ends, ends[1:], strict=False):
                number = int(text.split()[0])
                assert ids[first:last].tolist() == list(range(own[number], own[number + 1]))


def test_the_config_names_the_peers():
    assert tuple(SpeedBlock().peers) == PEERS
    assert OWN[0] == NUMPY
