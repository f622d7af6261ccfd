"""The speed measurement: what is measured and what is written, never how fast."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
from small_subword import PAIRS, train_sentencepiece, write_mixed

from psp.errors import DataError
from psp.model import Model, save_model
from psp.speed import measure_speed
from psp.store import write_store
from psp.subword import load_sentencepiece

CONFIG = {"languages": ["en", "fr"], "lower_case": True}


def store(folder, model):
    mixed = write_mixed(folder / "mix.tsv", ((*pair, 0) for pair in PAIRS))
    write_store(mixed, model, folder / "store.h5", languages=["en", "fr"], corpora=["Books"])
    return folder / "store.h5"


@pytest.fixture
def trained(tmp_path):
    model = train_sentencepiece(tmp_path / "sp.model")
    pieces = load_sentencepiece(model).get_piece_size()
    save_model(tmp_path / "model", np.ones((pieces, 8), np.float32), model, CONFIG)
    return tmp_path / "model", store(tmp_path, model)


@pytest.fixture
def seen(monkeypatch):
    """What the model was given to pool and to embed."""
    calls = {"pool": [], "embed": []}
    pool, embed = Model.pool, Model.embed_raw_text
    monkeypatch.setattr(Model, "pool", lambda self, *given: calls["pool"].append(given) or pool(self, *given))
    monkeypatch.setattr(Model, "embed_raw_text", lambda self, texts: calls["embed"].append(texts) or embed(self, texts))
    return calls


def test_sources_then_targets_of_the_first_pairs_as_text(trained, seen, tmp_path):
    result = measure_speed(*trained, tmp_path / "speed.json", sentences=100, repeats=3)
    assert seen["embed"] == [[pair[0] for pair in PAIRS[:50]] + [pair[1] for pair in PAIRS[:50]]] * 4
    assert (result["sentences"], result["asked"], result["pairs_in_store"]) == (100, 100, len(PAIRS))


def test_the_papers_protocol_is_sorted_batches(trained, seen, tmp_path):
    result = measure_speed(*trained, tmp_path / "speed.json", sentences=100, batch_size=8, repeats=3)
    assert len(seen["pool"]) == 4 * 13
    one_pass = seen["pool"][:13]
    assert [len(offsets) - 1 for _, offsets in one_pass] == [8] * 12 + [4]
    lengths = np.concatenate([np.diff(offsets) for _, offsets in one_pass])
    assert (np.diff(lengths) >= 0).all()
    assert result["conditions"]["mean_pieces"] == pytest.approx(lengths.mean(), abs=1e-3)
    model = Model.load(trained[0])
    sentences = [pair[side] for side in (0, 1) for pair in PAIRS[:50]]
    assert sorted(np.concatenate([ids for ids, _ in one_pass])) == sorted(model.ids(sentences)[0])


def test_a_small_store_is_measured_once_through(trained, seen, tmp_path):
    result = measure_speed(*trained, tmp_path / "speed.json", sentences=10**6, repeats=3)
    assert (result["sentences"], result["asked"]) == (2 * len(PAIRS), 10**6)
    assert len(seen["embed"][0]) == 2 * len(PAIRS)


def test_rates_come_with_their_conditions(trained, tmp_path):
    result = measure_speed(*trained, tmp_path / "speed.json", sentences=60, repeats=3)
    assert json.loads((tmp_path / "speed.json").read_text()) == result
    assert result["format"] == 1
    for rates in (result["forward"], result["text"]):
        assert 0 < rates["min"] <= rates["median"] <= rates["max"]
    conditions = result["conditions"]
    assert (conditions["dim"], conditions["dtype"], conditions["repeats"]) == (8, "float32", 3)
    assert conditions["cpu"] and conditions["cores"] >= 1
    assert set(conditions["versions"]) >= {"psp", "numpy", "sentencepiece", "python"}


def test_a_store_of_another_model_is_refused(trained, tmp_path):
    (tmp_path / "other").mkdir()
    other = store(tmp_path / "other", train_sentencepiece(tmp_path / "other" / "sp.model", vocab_size=60))
    with pytest.raises(DataError, match="another vocabulary"):
        measure_speed(trained[0], other, tmp_path / "speed.json")
    assert not (tmp_path / "speed.json").exists()


def test_median_least_and_most_leave_the_first_pass_out(trained, tmp_path, monkeypatch):
    seconds = [100.0, 1.0, 4.0, 2.0] * 2  # of each pass, as the clock will have it
    readings = iter([time for length in seconds for time in (0.0, length)])
    monkeypatch.setattr("psp.speed.time", SimpleNamespace(perf_counter=lambda: next(readings)))
    result = measure_speed(*trained, tmp_path / "speed.json", sentences=100, repeats=3)
    for rates in (result["forward"], result["text"]):
        assert (rates["min"], rates["median"], rates["max"]) == (25.0, 50.0, 100.0)
