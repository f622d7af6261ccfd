"""Work by several processes: the same results in the same order, whatever ends whom."""

from __future__ import annotations

import io
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import pytest

from psp.core.errors import DataError, PspError
from psp.inference.processes import in_order
from psp.inference.streaming import TEXT_BYTES, Chunk, ChunkSource

ROOM = 64 << 10


def upper(chunk: Chunk, room: memoryview):
    """Each line in capitals; ``!bad`` is an error after the lines before it, ``!bug`` a bug, ``!die`` an end."""
    lines = chunk.text.split(b"\n")
    error = None
    for number, line in enumerate(lines):
        if line == b"!bad":
            lines, error = lines[:number], DataError("is bad", "x", chunk.first + number)
            break
        if line == b"!bug":
            raise ZeroDivisionError("a bug of ours")
        if line == b"!raise":
            raise DataError("is raised", "x", chunk.first + number)
        if line == b"!die":
            os.kill(os.getpid(), signal.SIGKILL)
        if line == b"!exit":
            os._exit(7)
        if line.startswith(b"!sleep"):
            time.sleep(float(line[6:]))
    made = b"".join(line.upper() + b"\n" for line in lines)
    if len(made) > len(room):
        return made, error
    room[: len(made)] = made
    return len(made), error


def run(data: bytes, jobs: int, rows: int = 10, stream=None) -> bytes:
    out = io.BytesIO()
    with in_order(ChunkSource(stream or io.BytesIO(data), "x"), upper, jobs=jobs, rows=rows, room=ROOM) as done:
        try:
            for chunk, result in done:
                assert result.nbytes >= chunk.rows or b"!bad" in chunk.text
                out.write(result)
        except PspError as error:
            error.add_note(out.getvalue().decode())
            raise
    assert multiprocessing.active_children() == []
    return out.getvalue()


def lines(count: int) -> bytes:
    pick = random.Random(count)
    return b"".join(b"line %d %s\n" % (number, b"x" * pick.choice([0, 3, 50])) for number in range(count))


@pytest.mark.parametrize("jobs", [1, 2, 5])
def test_results_are_in_the_order_of_the_lines(jobs):
    data = lines(3000)
    assert run(data, jobs) == data.upper()
    assert run(b"", jobs) == b""
    slow = b"".join(b"!sleep0.0%d\n" % (number % 3) + lines(9) for number in range(20))
    assert run(slow, jobs) == slow.upper()


@pytest.mark.parametrize("jobs", [1, 2])
def test_lines_larger_than_the_shared_memory_go_through_too(jobs):
    # Both ways and one after another: a process that sends while it is sent to must not wait for ever.
    data = b"".join(b"%d" % number * (TEXT_BYTES + number) + b"\nshort\n" for number in range(8))
    assert run(data, jobs) == data.upper()


@pytest.mark.parametrize("jobs", [1, 3])
def test_an_error_comes_after_the_results_before_it(jobs):
    data = b"!sleep0.3\n" + lines(40) + b"!bad\n" + lines(100) + b"!raise\n"  # the later one is found first
    with pytest.raises(DataError, match=r"^x, line 42: is bad\n") as caught:
        run(data, jobs)
    assert caught.value.__notes__ == [(b"!sleep0.3\n" + lines(40)).upper().decode()]
    with pytest.raises(DataError, match=r"^x, line 41: is raised\n"):
        run(lines(40) + b"!raise\n", jobs)
    assert multiprocessing.active_children() == []


def test_a_bug_in_a_process_keeps_its_traceback():
    with pytest.raises(RuntimeError, match=r"(?s)in upper.*ZeroDivisionError: a bug of ours"):
        run(lines(40) + b"!bug\n" + lines(40), 2)


@pytest.mark.parametrize(
    ("line", "said"),
    [(b"!die", r"process \d of 3 was killed by SIGKILL; .*fewer --jobs"), (b"!exit", "ended with status 7")],
)
def test_a_process_that_is_gone_is_an_error(line, said):
    with pytest.raises(PspError, match=said):
        run(lines(400) + line + b"\n" + lines(400), 3)
    assert multiprocessing.active_children() == []


def test_what_ends_the_block_ends_the_processes(tmp_path):
    with (
        pytest.raises(OSError, match="full"),
        in_order(ChunkSource(io.BytesIO(lines(9000)), "x"), upper, jobs=2, rows=10, room=ROOM) as done,
    ):
        next(done)
        raise OSError("full")
    assert multiprocessing.active_children() == []


def test_too_many_processes():
    code = """
import io, resource
from psp.core.errors import PspError
from psp.inference.streaming import ChunkSource
from psp.inference.processes import in_order
import os
real, started = os.fork, []
def fork():  # what a full process table does, where a limit of the system's own is not ours to set
    if len(started) == 2:
        raise BlockingIOError(11, "Resource temporarily unavailable")
    started.append(real())
    return started[-1]
os.fork = fork
try:
    with in_order(ChunkSource(io.BytesIO(b"a"), "x"), None, jobs=4, rows=1, room=100):
        pass
except PspError as error:
    print(error)
print(len(started))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert result.stdout == "4 processes: Resource temporarily unavailable; use fewer --jobs\n2\n", result
