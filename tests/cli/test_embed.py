"""``psp embed``, against the library; and whatever may end it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from psp.cli import capped
from psp.cli.main import main
from tests.cli.conftest import FULL_DISK
from tests.conftest import SENTENCES, odd_text

LINES = [*SENTENCES, "", " ", "日本 🙂", "x\ry\u2028z\x85", "the cat " * 50] * 8
TEXT = "\n".join(LINES).encode() + b"\n"


@pytest.fixture
def text(tmp_path):
    path = tmp_path / "text.txt"
    path.write_bytes(TEXT)
    return path


def embed(small_model, text, out, *options):
    main(["embed", str(small_model), str(text), "--out", str(out), *options])


@pytest.mark.parametrize("jobs", ["1", "3"])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_files_hold_the_librarys_vectors(small_model, model, text, tmp_path, capsys, jobs, dtype):
    expected = model.embed_raw_text(LINES).astype(dtype)
    out = tmp_path / "made"
    for name in ("x.npy", "x.parquet", f"x.{dtype.replace('float', 'f')}"):
        embed(small_model, text, out / name, "--jobs", jobs, "--dtype", dtype)
        assert capsys.readouterr().out == f"{out / name}: {len(LINES):,} vectors of 12 dimensions, {dtype}\n"
    assert np.array_equal(np.load(out / "x.npy"), expected) and np.load(out / "x.npy").dtype == dtype
    assert np.array_equal(np.fromfile(out / f"x.f{dtype[-2:]}", dtype).reshape(-1, 12), expected)
    table = pytest.importorskip("pyarrow.parquet").read_table(out / "x.parquet")
    assert table["text"].to_pylist() == LINES
    numbers = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False)
    assert np.array_equal(numbers.reshape(-1, 12), expected)
    assert {path.suffix for path in out.iterdir()} == {".npy", ".json", ".parquet", f".{dtype.replace('float', 'f')}"}


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(lines=st.lists(odd_text.map(lambda text: text.replace("\n", " ")), max_size=30), last=st.booleans())
def test_any_text_gives_the_same_bytes_with_one_process_and_several(small_model, model, tmp_path, lines, last):
    path = tmp_path / "odd.txt"
    path.write_bytes("\n".join(lines).encode() + (b"\n" if last and lines else b""))
    if not last and lines[-1:] == [""]:
        lines = lines[:-1]  # there is no line after the last line feed
    for jobs in ("1", "2"):
        embed(small_model, path, tmp_path / f"{jobs}.npy", "--jobs", jobs)
    assert (tmp_path / "1.npy").read_bytes() == (tmp_path / "2.npy").read_bytes()
    assert np.array_equal(np.load(tmp_path / "1.npy"), model.embed_raw_text(lines))


def test_the_table_dimensions_and_lengths_that_are_asked_for(small_model, model, text, tmp_path):
    embed(small_model, text, tmp_path / "x.npy", "--table", "int8", "--dim", "5", "--normalize", "--jobs", "2")
    vectors = np.load(tmp_path / "x.npy")
    assert np.array_equal(vectors, model.quantized("int8", 5).encode(LINES, normalize_embeddings=True))
    assert not np.allclose(vectors, model.encode(LINES, normalize_embeddings=True, truncate_dim=5), atol=1e-7)
    lengths = np.linalg.norm(vectors, axis=1)
    blank = [index for index, line in enumerate(LINES) if line in ("", " ", "日本 🙂")]
    assert not lengths[blank].any() and np.allclose(np.delete(lengths, blank), 1)


def test_standard_input_and_output(small_model, model, psp_command):
    for jobs in (1, 2):
        result = psp_command.run("embed", small_model, "--out", "-", "--dtype", "float16", "--jobs", jobs, text=TEXT)
        assert result.returncode == 0, result.stderr
        vectors = np.frombuffer(result.stdout, np.float16).reshape(-1, 12)
        assert np.array_equal(vectors, model.embed_raw_text(LINES).astype(np.float16))
        said = result.stderr.decode()
        assert f"info: embedding standard input: {len(LINES):,} sentences" in said and "sentences/s" in said


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_lines_of_a_megabyte(small_model, model, tmp_path, jobs):
    lines = ["the cat eats bread " * 50_000, "x" * 1_000_000, "short", "日" * 340_000]
    (tmp_path / "long.txt").write_text("\n".join(lines))
    embed(small_model, tmp_path / "long.txt", tmp_path / "x.npy", "--jobs", jobs)
    assert np.array_equal(np.load(tmp_path / "x.npy"), model.embed_raw_text(lines))


@pytest.mark.parametrize("jobs", [pytest.param("1", marks=pytest.mark.slow), "2"])
def test_a_line_that_is_not_utf8(small_model, tmp_path, psp_command, jobs):
    (tmp_path / "bad.txt").write_bytes(TEXT + b"ab\xff\n" + TEXT)
    result = psp_command.run("embed", small_model, tmp_path / "bad.txt", "--out", tmp_path / "x.npy", "--jobs", jobs)
    number = len(LINES) + 1
    said = f"{tmp_path}/bad.txt, line {number}: not UTF-8 (byte 3 of the line is 0xff); convert the file"
    assert (result.returncode, result.stdout, result.stderr.decode()) == (1, b"", f"error: {said}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["bad.txt"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["none.txt", "--out", "x.npy"], "none.txt: cannot be read: No such file or directory"),
        (["text.txt", "--out", "x"], "--out x: unknown format; end the name in .npy"),
        (["text.txt", "--out", "-", "--format", "npy"], "--format npy: standard output implies raw"),
        (["text.txt", "--out", "x.npy", "--dim", "99"], "--dim 99: dim is 99; the table has 12 dimensions"),
        (["text.txt", "--out", "text.txt/x.npy"], "text.txt/x.npy: cannot be written: "),
    ],
)
def test_what_cannot_be_done_is_one_line(small_model, text, monkeypatch, capsys, arguments, said):
    monkeypatch.chdir(text.parent)
    with pytest.raises(SystemExit) as caught:
        main(["embed", str(small_model), *arguments])
    error = capsys.readouterr().err
    assert caught.value.code == 1 and error.count("\n") == 1 and said in error
    assert [path.name for path in text.parent.iterdir()] == ["text.txt"] and text.read_bytes() == TEXT


@pytest.mark.parametrize(
    ("command", "option", "number"),
    [
        *(("embed model --out x.npy", "--jobs", number) for number in ("0", "-1", "two")),
        ("search model c.txt", "-k", "0"),
        ("mine model c.txt d.txt --out x.tsv", "--threads", "0"),
        ("translate translator", "--beam", "0"),
        ("serve model", "--max-texts", "0"),
    ],
)
def test_a_count_is_a_number_of_at_least_one(capsys, command, option, number):
    with pytest.raises(SystemExit) as ended:
        main([*command.split(), *([f"{option}={number}"] if option[1] == "-" else [option, number])])
    assert ended.value.code == 2
    assert f"argument {option}: {number} is not a positive integer" in capsys.readouterr().err


def test_more_processes_than_help_are_not_started(monkeypatch, caplog):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: set(range(6)))
    assert [capped(jobs) for jobs in (1, 6, 12)] == [1, 6, 12] and not caplog.messages
    assert capped(1000) == 12
    assert caplog.messages == ["--jobs 1000: only 6 cores; starting 12 processes"]


@pytest.mark.parametrize(
    "name", ["x.npy", *(pytest.param(name, marks=pytest.mark.slow) for name in ("x.f16", "x.parquet"))]
)
@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_a_full_disk(small_model, text, tmp_path, psp_command, name, jobs):
    result = psp_command.run("embed", small_model, text, "--out", tmp_path / name, "--jobs", jobs, before=FULL_DISK)
    said = f"error: {tmp_path / name}: cannot be written: File too large; free space or choose another folder\n"
    assert (result.returncode, result.stderr.decode()) == (1, said)
    assert list(tmp_path.iterdir()) == [text]


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
def test_standard_output_on_a_full_disk(small_model, text, psp_command, jobs):
    with Path("/dev/full").open("wb") as full:
        result = psp_command.run("embed", small_model, text, "--out", "-", "--jobs", jobs, stdout=full)
    said = "error: standard output: cannot be written: No space left on device\n"
    assert (result.returncode, result.stderr.decode()) == (1, said)


# ------------------------------------------------------------------------------------------ what ends it half-way


def at_work(psp_command, small_model, tmp_path, *options, **started):
    """The command, waiting in the middle of its input; what it writes has begun."""
    ours, its = os.pipe()
    command = psp_command.start(
        "embed", small_model, "--out", tmp_path / "x.f32", *options, stdin=ours, stdout=subprocess.DEVNULL, **started
    )
    os.close(ours)
    feed = os.fdopen(its, "wb", buffering=0)
    feed.write(TEXT)
    for _ in range(2):  # more than a chunk, so that something is written
        feed.write(b"the cat eats bread\n" * 20_000)
    deadline = time.monotonic() + 60
    while not any(path.stat().st_size for path in tmp_path.glob(".x.f32.*.part")):
        assert command.poll() is None and time.monotonic() < deadline, command.stderr.read()
        time.sleep(0.01)
    return command, feed


def children(pid: int) -> list[int]:
    return [int(word) for word in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until(condition):
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.mark.parametrize("jobs", [pytest.param(1, marks=pytest.mark.slow), 2])
@pytest.mark.parametrize(
    ("number", "whole_group", "status", "said"),
    [
        (signal.SIGINT, True, 130, "error: stopped by Ctrl-C or a signal\n"),  # as a terminal does
        (signal.SIGTERM, False, 143, "error: stopped by SIGTERM\n"),
    ],
)
def test_a_signal_leaves_nothing_behind(small_model, tmp_path, psp_command, jobs, number, whole_group, status, said):
    command, feed = at_work(psp_command, small_model, tmp_path, "--jobs", jobs, start_new_session=True)
    pids = children(command.pid)
    assert len(pids) == (jobs if jobs > 1 else 0)
    (os.killpg if whole_group else os.kill)(command.pid, number)
    error = command.stderr.read().decode()
    assert (command.wait(30), error) == (status, said)
    feed.close()
    assert list(tmp_path.iterdir()) == []
    wait_until(lambda: all(map(gone, pids)))


@pytest.mark.parametrize("number", [signal.SIGKILL, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)])
def test_a_process_that_is_killed_is_one_error(small_model, tmp_path, psp_command, number):
    command, feed = at_work(psp_command, small_model, tmp_path, "--jobs", 2)
    pids = children(command.pid)
    os.kill(pids[1], number)  # it has nothing to do just now: that is noticed at once all the same
    error = command.stderr.read().decode()
    assert command.wait(30) == 1
    assert error.startswith(f"error: process 2 of 2 was killed by {number.name};") and error.count("\n") == 1
    feed.close()
    assert list(tmp_path.iterdir()) == []
    wait_until(lambda: all(map(gone, pids)))


@pytest.mark.slow
def test_kill_9_leaves_no_process_and_the_next_run_takes_the_rest_away(small_model, text, tmp_path, psp_command):
    out = tmp_path / "out"
    out.mkdir()
    command, feed = at_work(psp_command, small_model, out, "--jobs", 2)
    pids = children(command.pid)
    command.kill()
    command.wait(30)
    wait_until(lambda: all(map(gone, pids)))  # although the pipe that they were started with is open
    feed.close()
    assert [path.suffix for path in out.iterdir()] == [".part"]
    embed(small_model, text, out / "x.f32")
    assert [path.name for path in out.iterdir()] == ["x.f32"]


def test_a_closed_pipe_is_no_error(small_model, tmp_path, psp_command):
    path = tmp_path / "long.txt"
    path.write_bytes(b"the cat eats bread\n" * 200_000)
    for jobs in (1, 2):
        command = psp_command.start("embed", small_model, path, "--out", "-", "--jobs", jobs)
        command.stdout.read(100)
        command.stdout.close()
        error = command.stderr.read()
        assert (command.wait(30), error) == (128 + signal.SIGPIPE, b"")


def test_a_pipe_with_a_name(small_model, model, text, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    reader = subprocess.Popen(["cat", tmp_path / "pipe"], stdout=subprocess.PIPE)
    embed(small_model, text, tmp_path / "pipe", "--format", "raw")
    assert np.array_equal(
        np.frombuffer(reader.communicate()[0], np.float32).reshape(-1, 12), model.embed_raw_text(LINES)
    )


@pytest.mark.slow
def test_memory_does_not_grow_with_the_lines(small_model, tmp_path, psp_command):
    """Peak memory of the first process, and of the largest of the others: the same for eight times the text."""
    # VmHWM, since ru_maxrss of a new program counts what the one that started it had.
    before = """
import atexit, pathlib, re, resource, sys
own = lambda: re.search(r"VmHWM:\\s+(\\d+)", pathlib.Path("/proc/self/status").read_text())[1]
atexit.register(lambda: print(own(), resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, file=sys.stderr))
"""
    most = {}
    for count in (300_000, 2_400_000):
        path = tmp_path / "text.txt"
        # Few different words: those that a model knows by heart may be many more, up to a limit of its own.
        path.write_bytes(b"".join(b"the cat eats %d\n" % (number % 9999) for number in range(count)))
        result = psp_command.run("embed", small_model, path, "--out", tmp_path / "x.npy", "--jobs", 2, before=before)
        assert result.returncode == 0, result.stderr
        most[count] = [int(word) for word in result.stderr.split()[-2:]]  # KiB
    for small, large in zip(*most.values(), strict=True):
        assert large < small + 20_000, most


def test_without_tqdm_lines_tell(small_model, text, tmp_path):
    code = "import sys; sys.modules['tqdm'] = None; sys.stderr.isatty = lambda: True\n"
    code += "import psp.core.logs; psp.core.logs.LOG_SECONDS = 0.0\nfrom psp.cli.main import main; main()"
    command = [sys.executable, "-c", code, "embed", str(small_model), str(text), "--out", str(tmp_path / "x.npy")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    first, last, unknown = result.stderr.splitlines()
    assert first.startswith(f"info: embedding {text}: {len(LINES):,} sentences, ") and first.endswith("read 100%")
    assert " in all, read 100%" in last
    assert unknown.startswith(f"warning: {text}: ") and unknown.endswith(
        "the first in line 483, whose vectors are zeros"
    )


def test_one_line_imports_at_most_20_modules_of_psp(small_model, tmp_path) -> None:
    """By the time that the vector is written, the lazy ones too: what a reader of this command has to know."""
    (tmp_path / "line.txt").write_text("the cat\n")
    code = "import sys; from psp.cli.main import main; main()\n"
    code += "print(*(name for name in sys.modules if name.partition('.')[0] == 'psp'))"
    command = ["embed", small_model, tmp_path / "line.txt", "--out", tmp_path / "x.npy"]
    done = subprocess.run([sys.executable, "-c", code, *map(str, command)], capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    assert np.load(tmp_path / "x.npy").shape == (1, 12) and len(modules) <= 20, modules
