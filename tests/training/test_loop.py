"""Whole training runs: text, sentencepiece model, store, training, and the model as people load it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from psp.config.blocks.training import PAPER
from psp.core.errors import ConfigError, DataError, PspError
from psp.core.files import read_json
from psp.evaluation.development import Development, DevelopmentFiles
from psp.models.folder import load_model, save_model
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.training.conftest import CONFIG, Made, corpus, error, make, train

SETTINGS: dict[str, Any] = {
    **PAPER, "directions": "both",
    "epochs": 5, "batch_size": 32, "megabatch": 4, "anneal": 5, "dim": 32, "learning_rate": 0.02, "log_every": 10,
}  # fmt: skip


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    return make(tmp_path_factory.mktemp("made"), corpus(1200, seed=1), 400)


def run(folder: Path, made: Made, development: Any = None, **changes: Any) -> dict[str, Any]:
    about = {key: changes.pop(key) for key in ("init_from", "warn_pairs", "threads", "model_config") if key in changes}
    return train(folder, made, {**SETTINGS, **changes}, development, **about)


def test_few_pairs_get_a_warning(tmp_path: Path, made: Made, caplog: pytest.LogCaptureFixture) -> None:
    run(tmp_path / "a", made, epochs=1, warn_pairs=1200)
    assert caplog.text == ""
    run(tmp_path / "b", made, epochs=1, warn_pairs=1201)
    (line,) = caplog.messages
    assert line.startswith("1,200 pairs are few to train on (mix.warn_pairs is 1,201): ")


def test_a_slice_too_small_to_hold_anything_out_is_told_with_what_to_write(tmp_path: Path) -> None:
    heldout = tmp_path / "heldout.tsv"
    heldout.touch()
    with pytest.raises(DataError, match=r"heldout\.tsv: holds no pair: .* or write `development: \{heldout: 0\}`"):
        DevelopmentFiles(heldout=heldout).load()


def test_the_same_seed_and_threads_give_the_same_files_and_another_seed_others(tmp_path: Path, made: Made) -> None:
    for name, seed in (("c", 2), ("b", 1), ("a", 1)):
        development = Development(None, made.unseen)
        report = run(tmp_path / name, made, development, epochs=2, dropout=0.1, seed=seed, threads=2)
    assert report["best"]["error"] == error(tmp_path / "a/model", made)  # what was scored is what was saved
    assert read_json(tmp_path / "a/train/train.json") == report
    assert report["format"] == 1 and report["pairs_seen"] == 2 * 1200 and report["steps"] == 2 * 38
    assert [row["epoch"] for row in report["development"]] == [1, 2]
    files = {path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert {str(path) for path in files} == {
        "model/config.json", "model/model.safetensors", "model/sentencepiece.model",
        "train/metrics.csv", "train/dev.csv", "train/timing.csv", "train/train.json",
    }  # fmt: skip
    for path in files - {Path("train/timing.csv")}:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes(), path
    models, logs = (
        [tmp_path / name / file for name in "ac"] for file in ("model/model.safetensors", "train/metrics.csv")
    )
    assert all(one.read_bytes() != other.read_bytes() for one, other in (models, logs))


def test_a_store_of_another_vocabulary_is_refused(tmp_path: Path, made: Made) -> None:
    other = make(tmp_path / "other", corpus(300, seed=5), 200)
    with pytest.raises(DataError, match="another vocabulary"):
        run(tmp_path, made._replace(sentencepiece=other.sentencepiece))
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("finite", [False, True])
def test_divergence_leaves_no_model(tmp_path: Path, made: Made, monkeypatch: pytest.MonkeyPatch, finite: bool) -> None:
    if finite:  # as if no loss were low enough
        monkeypatch.setattr("psp.training.trainer.HARDLY", 0)
        monkeypatch.setattr("psp.training.trainer.DIVERGED", 0)
    with pytest.raises(PspError, match="diverged: the first mini-batch's loss" if finite else "diverged"):
        run(tmp_path, made, epochs=1, learning_rate=0.02 if finite else 1e30)
    assert not (tmp_path / "model").exists()
    assert not (tmp_path / "train" / "train.json").exists()


def test_a_missing_gpu_is_told_before_anything_is_read(tmp_path: Path, made: Made) -> None:
    with pytest.raises(ConfigError, match=r"sees \d+ GPUs"):
        run(tmp_path, made._replace(store=tmp_path / "missing"), device="cuda:99")


def test_rows_are_taken_over_by_piece(tmp_path: Path, made: Made, caplog: pytest.LogCaptureFixture) -> None:
    run(tmp_path, made)
    assert error(tmp_path / "model", made) < 15
    first = load_model(tmp_path / "model")
    assert first.config["languages"] == ["en", "fr"]
    # Another corpus gives other pieces, and shared ones other numbers.
    second = make(tmp_path / "second", corpus(300, seed=5), 300)
    with caplog.at_level(logging.INFO, logger="psp"):
        # A learning rate near 0 leaves the initial table as it was.
        report = run(tmp_path / "second", second, init_from=tmp_path / "model", epochs=1, learning_rate=1e-12)
    started = load_model(tmp_path / "second" / "model")
    pieces = {
        model: [model.sentencepiece.id_to_piece(i) for i in range(model.vocab_size)] for model in (first, started)
    }
    shared = set(pieces[first]) & set(pieces[started])
    assert 50 < len(shared) < started.vocab_size
    assert [pieces[first].index(piece) for piece in shared] != [pieces[started].index(piece) for piece in shared]
    for row, piece in enumerate(pieces[started]):
        if piece in shared:
            np.testing.assert_allclose(started.weight[row], first.weight[pieces[first].index(piece)], atol=1e-6)
    assert report["initialised_from"] == {"pieces": started.vocab_size, "taken_over": len(shared)}
    assert f"copied the rows of {len(shared)} of {started.vocab_size} pieces" in caplog.text


def test_another_width_cannot_be_taken_over(tmp_path: Path, made: Made) -> None:
    save_model(
        tmp_path / "wide",
        np.ones((load_sentencepiece(made.sentencepiece).get_piece_size(), 48)),
        made.sentencepiece,
        CONFIG,
    )
    with pytest.raises(ConfigError, match="Write `dim: 48`"):
        run(tmp_path, made, init_from=tmp_path / "wide")


def test_the_held_out_slice_is_scored_without_segmenting_it_again(tmp_path: Path, made: Made) -> None:
    seen: list[tuple[Any, Any]] = []

    class Watching:
        def score(self, scorer: Any, heldout_scorer: Any = None) -> dict[str, float]:
            seen.append((scorer.model.config["segment"], heldout_scorer.model.config["segment"]))
            return {"score": 1.0}

    segment = {"zh": {"name": "jieba", "cut_all": True}}
    run(tmp_path, made, Watching(), epochs=1, model_config={**CONFIG, "segment": segment})
    assert seen == [(segment, {})]
    assert read_json(tmp_path / "model" / "config.json")["segment"] == segment


@pytest.mark.slow
def test_the_process_that_compiles_gets_the_bytes_of_those_that_load_what_it_compiled(
    tmp_path: Path, made: Made
) -> None:
    models = []
    for name in ("compiles", "loads"):
        files = [str(made.store), str(made.sentencepiece), str(tmp_path / name), str(tmp_path / f"{name}-train")]
        settings = {**SETTINGS, "epochs": 1, "dim": 37, "dropout": 0.1}
        code = (
            "from pathlib import Path; from psp.training.loop import Training; Training("
            f"*map(Path, {files}), {settings}, None, threads=1, model_config={CONFIG}).run()"
        )
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
        models.append((tmp_path / name / "model.safetensors").read_bytes())
    assert models[0] == models[1]
