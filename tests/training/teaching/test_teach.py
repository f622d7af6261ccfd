"""A teacher's vectors: made once, in blocks, the same bytes whatever happens; and training on them."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file

from psp.core.errors import ConfigError, DataError
from psp.models.folder import load_model, save_model
from psp.models.registry import load_encoder
from psp.pairs.store import Store
from psp.training.teaching import teach as module
from psp.training.teaching.targets import NONE, TEXT, DistillationTargets
from psp.training.teaching.teach import neighbours
from tests.conftest import rows_of
from tests.training.conftest import corpus, train
from tests.training.teaching.conftest import TEACHER, Case, settings, taught
from tests.training.training_process import CONTEXT, Job

TRAIN: dict[str, Any] = {"epochs": 40, "batch_size": 64, "dim": 32, "learning_rate": 0.05, "log_every": 10}


def test_each_sentence_in_the_teachers_language_has_its_vector(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 100)
    out = taught(case, tmp_path)
    found = load_file(out)  # what other programs read
    targets = DistillationTargets(out)
    lines = [line.split("\t") for line in case.pairs.read_text().splitlines()]
    assert len(targets) == len({source for source, _, _ in lines}) == targets.about["sentences"]
    assert len(list((tmp_path / "cache").rglob("*.npy"))) == 6
    known = load_encoder(str(case.teacher))
    vectors = known.embed([source for source, _, _ in lines])
    vectors = vectors / np.linalg.norm(vectors, axis=1)[:, None]
    np.testing.assert_allclose(found["vectors"][found["rows"][:, 0]], vectors, atol=1e-3)
    assert set(found["rows"][:410, 1]) == {TEXT} and set(found["rows"][410:, 1]) == {NONE}
    cosines = found["vectors"].astype(np.float32) @ found["vectors"].astype(np.float32).T
    np.fill_diagonal(cosines, -2)
    best = np.sort(cosines, axis=1)[:, ::-1][:, :8]
    np.testing.assert_allclose(np.take_along_axis(cosines, found["nearest"].astype(int), 1), best, atol=1e-3)
    with Store(case.store) as store:
        ids = targets.sentences(store)
        source = rows_of(store.read(0, len(store)).source)
    assert [rows_of(ids)[row] for row in found["rows"][:, 0]] == source


def test_a_part_is_the_beginning_of_the_whole_and_blocks_are_shared(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 64)
    whole = DistillationTargets(taught(case, tmp_path / "a", loss="kl"))
    some = DistillationTargets(taught(case, tmp_path / "b", loss="kl", sentences=150))
    assert len(some) == 150 and whole.nearest is None
    np.testing.assert_array_equal(some.vectors, whole.vectors[:150])
    np.testing.assert_array_equal(np.where(whole.rows < 150, whole.rows, NONE), some.rows)
    blocks = [{path.name for path in (tmp_path / name / "cache").rglob("*.npy")} for name in "ab"]
    assert len(blocks[0] & blocks[1]) == 2  # the third is a part of one
    # Another model with this teacher and text embeds nothing.
    monkeypatch.setattr(module._Blocks, "_precision", lambda self: pytest.fail("embedded again"))
    before = (tmp_path / "a/teacher.safetensors").read_bytes()
    assert taught(case, tmp_path / "a", loss="kl").read_bytes() == before


def test_a_teacher_whose_cosines_are_narrow_is_centred(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BLOCK", 64)
    narrow = tmp_path / "narrow"
    table = load_file(case.teacher / "model.safetensors")
    (weight,) = table.values()
    save_model(narrow, weight + np.float32(3), case.sentencepiece, TEACHER)
    targets = DistillationTargets(taught(case, tmp_path, encoder=str(narrow)))
    assert targets.nearest is not None
    assert targets.about["centred"] and targets.about["mean_cosine"] > 0.9
    left = DistillationTargets(taught(case, tmp_path / "left", encoder=str(narrow), centred=False))
    assert not left.about["centred"]
    # The blocks are the same; only what was written from them differs.
    assert targets.about["identity"] == left.about["identity"]
    raw = np.asarray(left.vectors, dtype=np.float64)
    count = len(raw)
    cosines = raw @ raw.T
    mean = (cosines.sum() - np.trace(cosines)) / (count * (count - 1))
    assert left.about["mean_cosine"] == pytest.approx(mean, abs=1e-4)
    wanted = raw - raw.mean(axis=0)
    wanted /= np.linalg.norm(wanted, axis=1)[:, None]
    np.testing.assert_allclose(targets.vectors, wanted, atol=1e-3)
    # Neighbours are those by the centred vectors.
    own = wanted @ wanted.T
    np.fill_diagonal(own, -2)
    best = np.sort(own, axis=1)[:, ::-1][:, :8]
    np.testing.assert_allclose(np.take_along_axis(own, targets.nearest.astype(int), 1), best, atol=2e-3)
    # The case's own teacher has wide cosines, and is centred only if asked.
    assert not DistillationTargets(taught(case, tmp_path / "wide")).about["centred"]
    assert DistillationTargets(taught(case, tmp_path / "wide", centred=True)).about["centred"]


def _teach_and_die(case: Case, folder: Path, blocks: int) -> None:
    module.BLOCK = 64
    load = module.load_encoder

    def dying(name: str) -> Any:
        encoder, count = load(name), 0
        embed = encoder.embed

        def counted(texts: Any) -> Any:
            nonlocal count
            count += 1
            if count > blocks:
                os.kill(os.getpid(), signal.SIGKILL)
            return embed(texts)

        encoder.embed = counted  # type: ignore[method-assign]
        return encoder

    module.load_encoder = dying
    taught(case, folder)


@pytest.mark.slow
def test_killed_and_started_again_it_gives_the_same_bytes(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = CONTEXT.Process(target=_teach_and_die, args=(case, tmp_path / "killed", 3))
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert not (tmp_path / "killed/teacher.safetensors").exists()
    assert len(list((tmp_path / "killed/cache").rglob("*.npy"))) == 3
    monkeypatch.setattr(module, "BLOCK", 64)
    for name in ("killed", "whole"):
        taught(case, tmp_path / name)
    killed, whole = ((tmp_path / name / "teacher.safetensors").read_bytes() for name in ("killed", "whole"))
    assert killed == whole


def test_neighbours_among_many_are_nearly_those_among_all(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(1)
    centres = generator.standard_normal((60, 12))
    vectors = (centres[generator.integers(0, 60, 3000)] + 0.3 * generator.standard_normal((3000, 12))).astype(
        np.float32
    )
    vectors[5] = vectors[900]  # the same sentence but for its spelling
    units = (vectors / np.linalg.norm(vectors, axis=1)[:, None]).astype(np.float16)
    exact = neighbours(units, 10)
    monkeypatch.setattr(module, "MANY", 100)
    monkeypatch.setattr(module, "QUERIES", 500)
    found = neighbours(units, 10)
    assert np.array_equal(neighbours(units, 10, threads=3), found)
    assert found.shape == (3000, 10) and found.dtype == np.int32
    for rows in (exact, found):
        assert not (rows == np.arange(3000)[:, None]).any() and rows[5, 0] == 900
    assert np.mean([len(set(a) & set(b)) / 10 for a, b in zip(exact, found, strict=True)]) > 0.95


def test_a_missing_teacher_and_one_that_knows_no_sentence_are_told(case: Case, tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file or folder; write "):
        taught(case, tmp_path, encoder=str(tmp_path / "nobody"))
    with pytest.raises(ConfigError, match=r"teacher\.encoder: none is named"):
        taught(case, tmp_path, encoder=None)
    with pytest.raises(DataError, match=r"0 sentence\(s\) in a language that the teacher knows \(de\)"):
        taught(case, tmp_path, languages=["de"])
    path = taught(case, tmp_path).parent / "cache"
    damaged = next(path.rglob("*.npy"))
    damaged.write_bytes(damaged.read_bytes()[:-50])
    with pytest.raises(DataError, match="delete it, and its sentences are embedded again"):
        taught(case, tmp_path)


def learn(case: Case, folder: Path, teacher: Path | None, **changes: Any) -> dict[str, Any]:
    return train(folder, case, TRAIN, teacher=teacher, teaching=settings(case, **changes))


def agreement(case: Case, folder: Path) -> float:
    """The correlation of the model's cosines with the teacher's, among sentences of the text."""

    def cosines(where: Path) -> Any:
        vectors = load_model(where).encode(case.text[:100])
        units = vectors / np.linalg.norm(vectors, axis=1)[:, None]
        return (units @ units.T)[np.triu_indices(100, 1)]

    return float(np.corrcoef(cosines(folder), cosines(case.teacher))[0, 1])


@pytest.mark.parametrize(
    ("loss", "weight"),
    [
        pytest.param("kl", 1, marks=pytest.mark.slow),
        ("kl", 0.5),
        ("neighbours-kl", 1),
    ],
)
def test_a_student_comes_to_see_sentences_as_its_teacher_does(
    case: Case, tmp_path: Path, loss: str, weight: float
) -> None:
    teacher = taught(case, tmp_path, loss=loss)
    report = learn(case, tmp_path, teacher, loss=loss, weight=weight)
    assert report["teacher"]["loss"] == loss and report["teacher"]["taught"] == len(DistillationTargets(teacher))
    assert agreement(case, tmp_path / "model") > 0.65  # untrained: 0.1


@pytest.mark.slow
@pytest.mark.parametrize("loss", ["kl", "neighbours-kl"])
def test_a_killed_training_ends_with_the_same_bytes(case: Case, tmp_path: Path, loss: str) -> None:
    teacher = taught(case, tmp_path, loss=loss)
    lines = "".join(f"{a}\t{b}\t0\n" for a, b in zip(*corpus(50, seed=9), strict=True))
    (tmp_path / "heldout.tsv").write_text(lines)
    own = {"teacher": teacher, "teaching": settings(case, loss=loss)}
    heldout, when, train = tmp_path / "heldout.tsv", {"steps": 10}, {**TRAIN, "epochs": 6}
    jobs = [
        Job(case.store, case.sentencepiece, heldout, tmp_path / name, train, when, die_at=die_at, **own)
        for name, die_at in (("whole", None), ("killed", 60), ("killed", None))
    ]
    assert [job.run() for job in jobs[:2]] == [0, -signal.SIGKILL]
    assert jobs[1].checkpoints()
    assert jobs[2].run() == 0 and "going on from step" in jobs[2].log()
    assert jobs[2].results() == jobs[0].results()
