"""Vectors and neighbours on disk: the same as in memory, within its limit, and gone on with after kill -9."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.cli.main import main
from psp.core.errors import ConfigError, DataError
from psp.inference.search import on_disk
from psp.inference.search.bitext import mine, mine_files
from psp.inference.search.index import Index
from psp.inference.search.lists import Lists
from psp.inference.search.on_disk import GrowingArray, ReleasedRows, resumable
from psp.inference.search.vectors import embed, from_stored, to_stored, unit
from psp.models.static import StaticModel
from psp.text.lines import LineFile
from tests.conftest import PAIRS, write_model
from tests.inference.search.test_lists import DTYPES, drawn

pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")

WORDS = sorted({word for pair in PAIRS for side in pair for word in side.split()})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A model drawn at random, and two texts of 3,000 lines of random words, a third of them in both."""
    made = tmp_path_factory.mktemp("mining")
    write_model(made, 32)
    rng = np.random.default_rng(2)
    lines = [" ".join(rng.choice(WORDS, 6)) for _ in range(5000)]
    (made / "en.txt").write_text("".join(f"{line}\n" for line in [*lines[:3000], lines[7], ""]))
    (made / "fr.txt").write_text("".join(f"{line}\n" for line in ["", *lines[2000:], lines[4000]]))
    return made


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("index", ["flat", "ivf"])
def test_mined_on_disk_is_what_is_mined_in_memory(tmp_path, dtype, index):
    source, target = (to_stored(drawn(400, seed=seed), np.dtype(dtype)) for seed in (1, 2))
    expected = mine(source, target, threshold=0.9)
    assert len(expected.margins) > 100
    found = mine(
        ReleasedRows(source), ReleasedRows(target), threshold=0.9, index=index, effort=10_000, folder=tmp_path
    )  # with so much effort, every list is looked into
    for array, right in zip(found, expected, strict=True):
        np.testing.assert_array_equal(array, right)


@given(values=st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=40))
def test_a_vector_of_int8_keeps_its_direction(values):
    vectors, kept = unit(np.array([values], np.float32))
    if not len(kept):
        return
    stored = to_stored(vectors, np.dtype(np.int8))
    assert np.abs(stored).max() == 127
    again = from_stored(stored, np.float64)
    assert np.linalg.norm(again) == pytest.approx(1, abs=1e-9)
    # Each number is off by at most half of a 127th of the largest.
    assert again[0] @ vectors[0] >= 1 - len(values) * (np.abs(vectors).max() / 254) ** 2


def test_an_unfinished_row_is_cut_off(tmp_path):
    dtype = np.dtype((np.float32, (3,)))
    array = GrowingArray(tmp_path / "x", dtype)
    assert array.mapped().shape == (0, 3)
    array.append(np.arange(6, dtype=np.float32).reshape(2, 3))
    with array.path.open("ab") as file:
        file.write(b"\0" * 7)
    again = GrowingArray(tmp_path / "x", dtype)
    assert len(again) == 2 and array.path.stat().st_size == 24
    again.append(np.ones((1, 3), np.float32))
    assert again.mapped().tolist() == [[0, 1, 2], [3, 4, 5], [1, 1, 1]]


def test_work_without_vectors_is_removed_but_when_killed(tmp_path):
    out, work = tmp_path / "out", tmp_path / "out.work"
    with resumable(out, {"k": 4}) as folder:
        assert folder == work
        with pytest.raises(DataError, match="out: another process makes it now"), resumable(out, {"k": 4}):
            pass
    assert not work.exists()
    with pytest.raises(ValueError), resumable(out, {"k": 4}):
        raise ValueError
    assert not work.exists()
    with pytest.raises(DataError, match="out: cannot be written: No space left"), resumable(out, {"k": 4}):
        raise OSError(28, "No space left on device")
    assert not work.exists()
    with pytest.raises(KeyboardInterrupt), resumable(out, {"k": 4, "dtype": "int8"}):
        raise KeyboardInterrupt
    message = r"out.work: an unfinished run left this with another k and dtype; give the same"
    with pytest.raises(DataError, match=message), resumable(out, {"k": 5, "dtype": "int4"}):
        pass
    with resumable(out, {"k": 4, "dtype": "int8"}):
        pass
    assert not work.exists()


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            OSError(28, "No space left on device"),
            "out: cannot be written: No space left on device; what was done is kept",
        ),
        (DataError("cannot be read: Input/output error", "en.txt"), "en.txt: cannot be read: Input/output error$"),
        (ZeroDivisionError("a bug"), "a bug"),
    ],
)
def test_vectors_outlive_any_error(tmp_path, error, message):
    with pytest.raises((DataError, ZeroDivisionError), match=message), resumable(tmp_path / "out", {"k": 4}) as work:
        for name in ("x.vectors", "x.done"):
            GrowingArray(work / name, np.dtype(np.float32)).append(np.ones(3, np.float32))
        raise error
    with resumable(tmp_path / "out", {"k": 4}) as work:
        assert len(GrowingArray(work / "x.vectors", np.dtype(np.float32))) == 3


def test_a_bad_last_line_is_found_before_the_work(folder, tmp_path, monkeypatch):
    (tmp_path / "bad.txt").write_bytes((folder / "en.txt").read_bytes() + b"caf\xe9")
    monkeypatch.setattr("psp.inference.search.vectors.embed", lambda *_: pytest.fail("work before the error"))
    model = StaticModel.load(folder / "model")
    with pytest.raises(DataError, match=r"bad.txt, line 3003: not UTF-8 \(byte 4"):
        mine_files(model, folder / "fr.txt", tmp_path / "bad.txt", tmp_path / "out")
    with pytest.raises(DataError, match=r"bad.txt, line 3003: not UTF-8"):
        Index.build(model, LineFile(tmp_path / "bad.txt"), folder=tmp_path / "index")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


class Interrupted(BaseException):
    """Stands for a kill: nothing catches it."""


@pytest.mark.parametrize(("index", "dtype"), [("flat", "int8"), ("ivf", "float32")])
def test_a_run_stopped_at_any_write_goes_on_to_the_same_bytes(folder, tmp_path, monkeypatch, dtype, index):
    monkeypatch.setattr("psp.inference.search.bitext.CHUNK", 400)
    monkeypatch.setattr("psp.inference.search.vectors.CHUNK", 400)
    monkeypatch.setattr("psp.inference.search.base.QUERIES", 700)
    monkeypatch.setattr("psp.inference.search.bfloat16.batch", lambda dim: 700)
    monkeypatch.setattr("psp.inference.search.lists.QUERIES", 700)
    model = StaticModel.load(folder / "model")
    options = {"dtype": dtype, "index": index, "memory": 1 << 40}
    texts = folder / "en.txt", folder / "fr.txt"
    expected = mine_files(model, *texts, tmp_path / "expected", **options)
    assert expected.pairs > 900
    append, kinds = GrowingArray.append, set()
    for limit in range(1, 200, 5):  # odd and even
        calls = 0

        def stopped(self, rows, durable=True, limit=limit):
            nonlocal calls
            calls += 1
            if calls == limit:
                kinds.add(self.path.suffix)
                append(self, rows[: len(rows) // 2], durable)  # a part of a block
                raise Interrupted if limit % 2 else OSError(28, "No space left on device")
            append(self, rows, durable)

        monkeypatch.setattr(GrowingArray, "append", stopped)
        try:
            mine_files(model, *texts, tmp_path / "out", **options)
            break
        except (Interrupted, DataError):
            monkeypatch.setattr(GrowingArray, "append", append)
            vectors = list(tmp_path.glob("out.work/*.vectors"))
            assert not vectors or (tmp_path / "out.work/job.json").is_file()
            assert not (tmp_path / "out").exists()
            assert mine_files(model, *texts, tmp_path / "out", **options) == expected
        assert (tmp_path / "out").read_bytes() == (tmp_path / "expected").read_bytes()
        assert not (tmp_path / "out.work").exists()
        (tmp_path / "out").unlink()
    assert {".vectors", ".lines", ".neighbours"} <= kinds, kinds


def test_an_index_with_lists_finds_what_an_exact_one_finds(folder, tmp_path, monkeypatch):
    model, corpus = StaticModel.load(folder / "model"), LineFile(folder / "en.txt")
    index = Index.build(model, corpus, kind="ivf", dtype="float16", folder=tmp_path / "index")
    queries = (folder / "fr.txt").read_text().splitlines()[1:2000:40]
    exact = Index.build(model, corpus, dtype="float16").search(queries, 5)
    assert index.search(queries, 5, 10_000) == exact
    index.release()
    assert index.search(queries, 5, 10_000) == exact
    some = index.search(queries, 1, 2)
    assert 0.3 < np.mean([near[0] == hits[0] for near, hits in zip(some, exact, strict=True)]) < 1
    # What a killed or failed process had done is used.
    embedded = []
    monkeypatch.setattr("psp.inference.search.vectors.CHUNK", 500)
    monkeypatch.setattr(
        "psp.inference.search.vectors.embed", lambda model, texts: (embedded.append(1), embed(model, texts))[1]
    )

    monkeypatch.setattr(Lists, "prepare", classmethod(lambda *_: (_ for _ in ()).throw(Interrupted)))
    with pytest.raises(Interrupted):
        Index.build(model, corpus, kind="ivf", dtype="float16", folder=tmp_path / "killed")
    monkeypatch.undo()
    assert len(embedded) == 7
    rename, failed = Path.rename, []

    def full(self, target):
        if target == tmp_path / "killed" and not failed:
            failed.append(1)
            raise OSError(28, "No space left on device")
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", full)
    with pytest.raises(DataError, match="killed: cannot be written: No space left on device; what was done is kept"):
        Index.build(model, corpus, kind="ivf", dtype="float16", folder=tmp_path / "killed")
    monkeypatch.setattr("psp.inference.search.vectors.embed", lambda *_: pytest.fail("embedded again"))
    again = Index.build(model, corpus, kind="ivf", dtype="float16", folder=tmp_path / "killed")
    assert again.search(queries, 5, 10_000) == exact
    assert sorted(path.name for path in tmp_path.iterdir()) == ["index", "killed"]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["mine", "--memory", "much"], "'much': write a number with M or G, such as 2G"),
        (["mine", "--memory", "1M"], "--memory: the model and its libraries take "),
        (["mine", "--memory", "8G", "--index", "hnsw"], "--memory: hnsw holds all sentences in memory; write"),
        (["search", "--memory", "8G"], "--memory: for an index on disk; add --save-index FOLDER"),
        (["search", "--index", "ivf"], "--index ivf: its lists are on disk; add --save-index FOLDER"),
        (["search", "--memory", "1M", "--save-index", "index"], "--memory: the model and its libraries take "),
    ],
)
def test_what_cannot_be_is_one_line(folder, tmp_path, monkeypatch, capsys, command, message):
    monkeypatch.chdir(tmp_path)
    name, *options = command
    out = ["--out", "out"] if name == "mine" else []
    with pytest.raises(SystemExit):
        main([name, *map(str, (folder / "model", folder / "en.txt", folder / "fr.txt")), *out, *options])
    assert message in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


MINE = [sys.executable, "-c", "from psp.cli.main import main; main()", "mine"]


@pytest.mark.slow
def test_memory_stays_within_its_limit_and_a_killed_run_goes_on(tmp_path):
    """100,000 lines, whose vectors and lists take 900 MB: a process that kept them in memory would take 760."""
    write_model(tmp_path, 768)
    rng = np.random.default_rng(3)
    for name in ("en", "fr"):
        drawn_words = rng.choice(WORDS, (50_000, 7))
        (tmp_path / name).write_text("".join(" ".join(words) + "\n" for words in drawn_words))
    arguments = [
        tmp_path / "model", tmp_path / "en", tmp_path / "fr", "--out", tmp_path / "out", "--index", "ivf", "--effort",
        "8", "--memory", "700M", "--threads", "2",
    ]  # fmt: skip
    measured = [
        sys.executable, "-c", "import os, resource, subprocess, sys; code = subprocess.call(sys.argv[1:]); "
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)", *MINE, *arguments,
    ]  # fmt: skip

    killed = 0
    process = subprocess.Popen([*map(str, [*MINE, *arguments])], start_new_session=True)
    work = tmp_path / "out.work"
    for file in ("target.done", "backward.order"):
        while not (work / file).exists() and process.poll() is None:
            time.sleep(0.01)
        assert process.poll() is None, file
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        killed += 1
        process = subprocess.Popen([*map(str, [*MINE, *arguments])], start_new_session=True)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert killed == 2 and json.loads((work / "job.json").read_text())["index"] == "ivf"
    result = subprocess.run([*map(str, measured)], capture_output=True, text=True, check=True, timeout=600)
    assert "going on with what an unfinished run left" in result.stderr
    assert int(result.stdout.splitlines()[-1]) < 700 * 1024
    assert not work.exists()
    first = (tmp_path / "out").read_bytes()
    subprocess.run([*map(str, measured)], capture_output=True, check=True, timeout=600)
    assert (tmp_path / "out").read_bytes() == first


def test_rows_are_copied_by_any_index(tmp_path, monkeypatch):
    monkeypatch.setattr(on_disk, "AT_ONCE", 7)
    rows = drawn(100).astype(np.float16)
    rows.tofile(tmp_path / "rows")
    mapped = on_disk.mapped(tmp_path / "rows", np.dtype((np.float16, rows.shape[1:])), 100)
    numbers = np.random.default_rng(1).integers(-100, 100, (30, 4))
    for which in (numbers, numbers[0], numbers[:0], numbers[3, 2], slice(90, 300), 5, rows[:, 0] > 0):
        copied = ReleasedRows(mapped)[which]
        assert copied.dtype == rows.dtype and np.array_equal(copied, rows[which])
        assert ReleasedRows(mapped[:, 0])[which].shape == rows[which][..., 0].shape


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_rows_at_random_do_not_fill_memory_with_the_file(tmp_path):
    with (tmp_path / "rows").open("wb") as file:
        file.truncate(256 << 20)
    code = (
        "import sys, numpy as np; from pathlib import Path; from psp.inference.search import on_disk; "
        "rows = on_disk.ReleasedRows(on_disk.mapped(Path(sys.argv[1]), np.dtype((np.int8, (256,))), 1 << 20)); "
        "before = on_disk.memory_peak(); rows[np.random.default_rng(1).integers(0, 1 << 20, (1000, 20))]; "
        "print(on_disk.memory_peak() - before)"
    )
    result = subprocess.run([sys.executable, "-c", code, tmp_path / "rows"], capture_output=True, text=True, check=True)
    assert int(result.stdout) < 100 << 20


def test_too_little_memory_is_said_with_what_suffices(monkeypatch):
    with pytest.raises(ConfigError, match=r"write [\d,]+M or more"):
        on_disk.spare(100)
    assert 0 < on_disk.spare(1 << 50) < 1 << 50


def test_what_its_parent_has_held_is_not_counted():
    child = "from psp.inference.search import on_disk; print(on_disk.memory_peak())"
    parent = f"import subprocess, sys; held = b'x' * 600_000_000; subprocess.run([sys.executable, '-c', {child!r}])"
    result = subprocess.run([sys.executable, "-c", parent], capture_output=True, text=True, check=True)
    assert 5_000_000 < int(result.stdout) < 400_000_000
