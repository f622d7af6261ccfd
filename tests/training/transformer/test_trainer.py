"""Training a transformer: it learns, is repeatable, and goes on after kill -9; its folder loads everywhere."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time

import numpy as np
import pytest
import torch

from psp.core.errors import ConfigError, DataError, PspError
from psp.core.files import read_json
from psp.evaluation.development import Development
from psp.models.cosines import cosines
from psp.models.folder import load_model
from psp.models.registry import load_encoder
from psp.training.teaching.teach import teach
from tests.training.transformer.conftest import PAIRS, train, write_pairs

HELDOUT = [list(side) for side in zip(*PAIRS[240:], strict=True)]
TEXTS = [side for pair in PAIRS[:20] for side in pair] + ["Baba " * 40]


def weights(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*.safetensors"))}


@pytest.fixture(scope="module")
def trained(tmp_path_factory, base):
    """Mean pooling, with a development score; and its report."""
    folder = tmp_path_factory.mktemp("mean")
    report = train(
        folder, base, development=Development(None, tuple(HELDOUT)), mixed=True, epochs=2,
        model_config={"languages": ["aa", "bb"], "recipe": "psp"},
    )  # fmt: skip
    return folder, report


@pytest.fixture(scope="module")
def recurrent(tmp_path_factory, base):
    folder = tmp_path_factory.mktemp("bilstm")
    return folder, train(folder, base, pairs=PAIRS[:96], pooling="bilstm", dim=24)


def test_training_lowers_the_loss_and_the_retrieval_error(trained):
    folder, report = trained
    losses = [
        float(row.split(",")[2]) for row in (folder / "train/metrics.csv").read_text().splitlines()[1:]
        if row.split(",")[2]
    ]  # fmt: skip
    assert losses[0] > 2 and report["loss"] < losses[0] / 2
    before, after = report["development"]["before"]["error"], report["development"]["after"]
    assert before > 60 and after[-1]["error"] < before / 2
    assert [one["step"] for one in after] == [15, 30] and report["steps"] == 30
    assert (report["pairs"], report["cut"], report["resumed_at"]) == (240, 0, None)
    written = read_json(folder / "train/train.json")
    of_this_process = {key: report[key] for key in ("seconds", "pairs_per_second", "resumed_at")}
    assert report == {**written, **of_this_process} and not of_this_process.keys() & written.keys()
    files = sorted(path.name for path in (folder / "train").iterdir())
    assert files == ["metrics.csv", "timing.csv", "train.json"]
    step, pairs, seconds, rate = map(float, (folder / "train/timing.csv").read_text().splitlines()[1].split(","))
    assert (step, pairs) == (30, 480) and seconds > 0 and rate > 0


@pytest.mark.parametrize("which", ["trained", "recurrent"])
def test_the_folder_loads_everywhere_with_the_same_vectors(which, request):
    folder, report = request.getfixturevalue(which)  # first: it skips where the libraries are not installed

    from sentence_transformers import SentenceTransformer

    theirs = SentenceTransformer(
        str(folder / "model"), device="cpu", local_files_only=True, trust_remote_code=which == "recurrent"
    )
    expected = theirs.encode(TEXTS, show_progress_bar=False)
    assert expected.shape == (len(TEXTS), report["dim"])
    model = load_model(folder / "model")
    found = [
        model.embed_raw_text(TEXTS),
        model.encode(TEXTS, batch_size=7),
        load_encoder(f"sentence-transformers:{folder / 'model'}").embed(TEXTS),
        load_encoder(str(folder / "model")).embed(TEXTS),
    ]
    near = 1e-3 if torch.cuda.is_available() else 1e-6  # an LSTM's products are of TF32 there
    for vectors in found:
        np.testing.assert_allclose(vectors, expected, atol=near)


def test_without_trust_the_library_refuses_the_pooling_of_psp(recurrent):
    from sentence_transformers import SentenceTransformer

    with pytest.raises(ValueError, match=r"(?s)paraphrastic\.exports\.LstmPooling.*trust_remote_code"):
        SentenceTransformer(str(recurrent[0] / "model"), device="cpu", local_files_only=True)


def test_text_keeps_its_case_and_a_tuned_model_is_a_base_again(trained, tmp_path):
    folder, _ = trained
    long = [("Baba " * 30 + str(number), f"bab {number}") for number in range(20)]
    report = train(
        tmp_path, folder / "model", pairs=long, pooling="cls", directions="source", cached=4, precision="bfloat16",
        checkpoint_steps=None,
    )  # fmt: skip
    assert report["cut"] == 20 and report["settings"]["max_length"] == 24
    assert read_json(tmp_path / "model/1_Pooling/config.json")["pooling_mode"] == "cls"
    assert report["development"] == {"before": None, "after": []}


@pytest.mark.slow
def test_wrong_settings_are_named(base, tmp_path, monkeypatch):
    for wrong, said in [
        ({"max_length": 41}, "reads at most 40 tokens. Write `max_length: 40`"),
        ({"device": "cuda"}, "sees 0 GPUs"),
    ]:
        monkeypatch.setattr("torch.cuda.is_available", lambda: False)
        with pytest.raises(ConfigError, match=said):
            train(tmp_path, base, **wrong)
    with pytest.raises(PspError, match="training diverged"):
        train(tmp_path, base, pairs=PAIRS[:64], learning_rate=1e30, epochs=2)
    assert not (tmp_path / "model").exists()


def teach_pairs(folder, pairs, dim=8):
    """A teacher that knows the sources alone: word vectors of as many dimensions."""
    words = sorted({word for source, _ in PAIRS for word in source.lower().split()})
    numbers = np.random.default_rng(1).standard_normal((len(words), dim))
    lines = [f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, numbers, strict=True)]
    vectors = folder / f"vectors{dim}.txt"
    vectors.write_text("".join(lines))
    out = folder / "teacher.safetensors"
    settings = {"encoder": str(vectors), "languages": ["xx"], "loss": "kl", "weight": 1}
    teach(
        pairs, out, folder / "teacher.json", cache=folder / "cache", settings=settings, corpora=[(("xx", "yy"), False)]
    )
    return out, load_encoder(str(vectors))


@pytest.mark.slow
@pytest.mark.parametrize("dim", [32, 8])
def test_a_teachers_vectors_of_one_side_are_learnt_for_both(base, tmp_path, dim):
    targets, teacher = teach_pairs(tmp_path, write_pairs(tmp_path / "all.tsv", PAIRS[:240], mixed=True), dim)
    settings = {"learning_rate": 5e-3, "epochs": 12, "checkpoint_steps": None}
    report = train(tmp_path, base, mixed=True, teacher=targets, **settings)
    about = report["teacher"]
    assert (about["dim"], about["languages"], about["untaught"], report["pairs"]) == (dim, ["xx"], 0, 240)
    model = load_model(tmp_path / "model")
    assert model.dim == 32
    sides = [model.embed_raw_text([pair[side] for pair in PAIRS[:240]]) for side in (0, 1)]
    wanted = teacher.embed([source.lower() for source, _ in PAIRS[:240]])
    if dim == 32:  # both sides are near the teacher's vector of the first
        assert min(cosines(side, wanted).mean() for side in sides) > 0.8
    before = train(tmp_path / "again", base, mixed=True, epochs=1) if (tmp_path / "again").mkdir() is None else None
    assert before is not None and "teacher" not in before and before["loss"] != report["loss"]
    assert cosines(*sides).mean() > 0.8 > cosines(sides[0], np.roll(sides[1], 1, axis=0)).mean()


def test_a_teachers_file_of_other_pairs_is_refused(base, tmp_path):
    targets, _ = teach_pairs(tmp_path, write_pairs(tmp_path / "all.tsv", PAIRS[:240], mixed=True))
    for pairs, said in (
        (PAIRS[:200], "for 240 pairs, but"),
        (PAIRS[1:241], "has changed; the file is from another"),
    ):
        with pytest.raises(DataError, match=said):
            train(tmp_path, base, pairs=pairs, mixed=True, teacher=targets)
        assert not (tmp_path / "model").exists()


def test_a_missing_package_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setattr("psp.training.transformer.PACKAGES", ("no_such_package",))
    with pytest.raises(PspError, match=r"needs no_such_package: pip install 'paraphrastic\[transformer\]'"):
        train(tmp_path, tmp_path)


JOB = """
import sys
from pathlib import Path
from psp.evaluation.development import Development
from psp.training.transformer import TransformerTraining
from tests.training.transformer.conftest import SETTINGS
from tests.training.transformer.test_trainer import HELDOUT
folder, base, pairs = map(Path, sys.argv[1:])
settings = {**SETTINGS, "pooling": "lstm", "dim": 16, "epochs": 6, "checkpoint_steps": 7}
development = Development(None, tuple(HELDOUT))
lessons = folder.parent / "teacher.safetensors"
given = {"teacher": lessons} if lessons.exists() else {}
out, train_dir = folder / "model", folder / "train"
report = TransformerTraining(pairs, str(base), out, train_dir, settings, development, threads=1, **given).run()
print(report["resumed_at"])
"""


def start(folder, base, pairs):
    return subprocess.Popen(
        [sys.executable, "-c", JOB, str(folder), str(base), str(pairs)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(os.environ),
    )  # fmt: skip


def ended(job):
    out, error = job.communicate(timeout=300)
    assert job.returncode == 0, error
    assert "network" not in error
    return out


@pytest.mark.slow
def test_a_killed_training_goes_on_to_the_same_weights(base, tmp_path):
    pairs = write_pairs(tmp_path / "pairs.tsv", PAIRS[:240], mixed=True)
    teach_pairs(tmp_path, pairs)  # its vectors are narrower, so there is a matrix between them
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    ended(start(whole, base, pairs))
    job = start(killed, base, pairs)
    deadline = time.monotonic() + 120
    # The first is whole once the second is begun.
    while len(list((killed / "train/checkpoints").glob("checkpoint-*/trainer_state.json"))) < 2:
        assert job.poll() is None and time.monotonic() < deadline, job.communicate()
        time.sleep(0.002)
    job.kill()
    job.communicate(timeout=60)
    assert job.returncode != 0 and not (killed / "model").exists()
    # As a process leaves it that dies while it writes one.
    (killed / "train/checkpoints/checkpoint-9999").mkdir()
    resumed_at = int(ended(start(killed, base, pairs)).splitlines()[-1])
    report = read_json(killed / "train/train.json")
    assert 0 < resumed_at < report["steps"] == 90
    assert weights(killed / "model") == weights(whole / "model")
    of_whole = read_json(whole / "train/train.json")
    assert report["development"] == of_whole["development"] and report["loss"] == of_whole["loss"]
    assert [one["step"] for one in report["development"]["after"]] == [15, 30, 45, 60, 75, 90]
    assert not (killed / "train/checkpoints").exists()


@pytest.mark.slow
def test_a_fresh_process_has_the_same_vectors(recurrent, tmp_path):
    folder = recurrent[0] / "model"
    code = (
        "import sys, numpy, psp, json; from sentence_transformers import SentenceTransformer\n"
        "texts = json.loads(sys.argv[2])\n"
        "ours = psp.load_model(sys.argv[1]).embed_raw_text(texts)\n"
        "theirs = SentenceTransformer(sys.argv[1], trust_remote_code=True, device='cpu').encode(texts)\n"
        "numpy.save(sys.argv[3], numpy.stack([ours, theirs]))\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder), json.dumps(TEXTS), str(tmp_path / "x.npy")], check=True)
    both = np.load(tmp_path / "x.npy")
    here = load_model(folder).embed_raw_text(TEXTS)
    assert (both[0] == here).all()
    np.testing.assert_allclose(both[1], here, atol=1e-6)
