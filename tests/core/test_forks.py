"""Calls in forks: their results in order, the first error, and no process that outlives what asked for it."""

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from psp.core.errors import DataError
from psp.core.forks import in_forks


@pytest.mark.parametrize("processes", [1, 2, 7])
def test_results_come_in_the_order_of_the_calls(processes):
    calls = [lambda number=number: (number, os.getpid()) for number in range(5)]  # not picklable
    found = in_forks(calls, processes, sizes=[3, 1, 4, 1, 5])
    assert [number for number, _ in found] == list(range(5))
    assert (os.getpid() in {pid for _, pid in found}) == (processes == 1)


def test_the_largest_is_begun_first(tmp_path):
    log = tmp_path / "log"

    def call(number):
        with log.open("a") as file:
            file.write(f"{number} ")
        time.sleep(0.2)

    in_forks([partial(call, number) for number in range(4)], 2, sizes=[1, 4, 2, 3])
    begun = log.read_text().split()
    assert set(begun[:2]) == {"1", "3"} and set(begun[2:]) == {"0", "2"}


def test_an_error_ends_the_others(tmp_path):
    def slow():
        time.sleep(60)

    def wrong():
        raise DataError("bad row", "corpus.tsv", 3)

    before = signal.signal(signal.SIGTERM, lambda number, frame: None)  # forks inherit it
    try:
        began = time.monotonic()
        with pytest.raises(DataError, match=r"corpus\.tsv, line 3: bad row"):
            in_forks([slow, wrong], 2, sizes=[1, 2])
        assert time.monotonic() - began < 30
    finally:
        signal.signal(signal.SIGTERM, before)


@pytest.mark.skipif(sys.platform != "linux", reason="prctl is Linux's")
def test_they_end_with_the_process_that_is_killed(tmp_path):
    program = (
        "import os, time\nfrom pathlib import Path\nfrom psp.core.forks import in_forks\n"
        f"def call(name):\n    Path({str(tmp_path)!r}, name).write_text(str(os.getpid()))\n    time.sleep(60)\n"
        "in_forks([lambda: call('a'), lambda: call('b')], 2, sizes=[1, 1])\n"
    )
    parent = subprocess.Popen([sys.executable, "-c", program])
    files = [tmp_path / "a", tmp_path / "b"]
    while not all(file.exists() and file.read_text() for file in files):
        assert parent.poll() is None
        time.sleep(0.05)
    parent.send_signal(signal.SIGKILL)
    parent.wait()
    for file in files:
        for _ in range(100):
            if not Path(f"/proc/{file.read_text()}").exists():
                break
            time.sleep(0.1)
        else:
            pytest.fail("a child outlived it")
