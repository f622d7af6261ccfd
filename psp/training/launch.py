"""Train in one process or, through torchrun, in several, whose end is reported in one line.

With ``train.processes`` or ``train.gpus`` above 1, ``python -m torch.distributed.run --standalone`` starts that many of
:mod:`psp.training.worker`, which meet in :mod:`psp.training.process_group`. The job itself then trains nothing: it
waits, passes Ctrl-C and SIGTERM on, and reports. No process outlives it, even if it is killed: each worker's standard
input is a pipe whose other end the job holds, and when that closes, the worker ends.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, cast

from psp.core.errors import ConfigError, PspError
from psp.core.files import read_json

LOOK_EVERY = 0.2  # seconds between checks for a request to stop
JOB = "job.pickle"  # for the processes, which have the same code: the training and its log
LAST_WORDS = 2000  # characters of torchrun's output, if no process reported anything


def count(train: Mapping[str, Any]) -> int:
    """The number of processes that the keys ``processes`` and ``gpus`` of a block ``train`` request."""
    return int(max(train["processes"], train["gpus"]))


def check(train: Mapping[str, Any], where: str) -> None:
    """Make sure that the keys about devices do not contradict each other.

    Args:
        train: the block ``train`` of the config, whole.
        where: its place in the config, for the error.

    Raises:
        ConfigError: they do.
    """
    processes, gpus, device = train["processes"], train["gpus"], train["device"]
    if processes > 1 and gpus:
        raise ConfigError(
            f"{where}: processes is {processes} and gpus is {gpus}; each GPU has a process of its own, so write "
            f"`gpus: {gpus}` alone, or `processes: {processes}` alone for the CPU"
        )
    if gpus and device == "cpu":
        raise ConfigError(f"{where}: gpus is {gpus}, but device is cpu; write `device: auto` or `gpus: 0`")
    if max(processes, gpus) > 1 and ":" in device:
        raise ConfigError(f"{where}: device is {device}, but there are several processes; write `device: auto`")
    if processes > 1 and device == "cuda":
        raise ConfigError(
            f"{where}: processes is {processes}, which are processes on the CPU, but device is cuda; write "
            f"`gpus: {processes}` and leave processes out"
        )
    if train["precision"] == "mixed" and (device == "cpu" or processes > 1):
        raise ConfigError(
            f"{where}: precision is mixed, which is for GPUs, but training is on the CPU; write `precision: float32`"
        )


class Job(Protocol):
    """What can be trained in processes: a dataclass such as :class:`psp.training.loop.Training`.

    Attributes:
        train_dir: where process 0 writes train.json.
        processes: on the CPU; each holds a copy of the table and its moments.
        gpus: processes with a GPU each, where that is not 0.
        threads: of all processes together; each has its share.
    """

    @property
    def train_dir(self) -> Path: ...
    @property
    def processes(self) -> int: ...
    @property
    def gpus(self) -> int: ...
    @property
    def threads(self) -> int: ...

    def run(self) -> Mapping[str, Any]:
        """Train in this process, alone or as one of those that torchrun started."""
        ...


def train_in_processes(job: Job, log: Path | str | None = None) -> Mapping[str, Any]:
    """Train in as many processes as requested.

    Args:
        job: the training.
        log: the job's log file, which process 0 continues; None = standard error.

    Returns:
        What train.json holds.

    Raises:
        ConfigError: there are fewer GPUs.
        PspError: as the training's ``run``, or a process was killed.
        Stopped: by Ctrl-C or SIGTERM; the same call resumes.
    """
    if job.gpus:
        _look_for_gpus(job.gpus)
    together = max(job.processes, job.gpus)
    job = dataclasses.replace(cast(Any, job), threads=max(job.threads // together, 1))
    if together == 1:
        return job.run()
    with tempfile.TemporaryDirectory(prefix="psp-train-") as folder:
        (Path(folder) / JOB).write_bytes(pickle.dumps((job, log)))
        _run(Path(folder), together, environment(job.threads, job.gpus))
    return dict(read_json(job.train_dir / "train.json"))


def command(processes: int, *program: str) -> list[str]:
    """The command line of torchrun for processes on this machine, which find each other at a port that is free."""
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1"]
    return [*torchrun, f"--nproc-per-node={processes}", *program]


def environment(threads: int, gpus: int) -> dict[str, str]:
    """The variables for torchrun and the processes: this library, the number of threads, a network interface."""
    variables = dict(os.environ)
    library = str(Path(__file__).parents[2])
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, [library, variables.get("PYTHONPATH")]))
    variables["PYTHONSAFEPATH"] = "1"  # a `psp` in the current folder may be another one
    variables["OMP_NUM_THREADS"] = str(threads)  # torchrun would set 1, and say so
    if not gpus:
        variables["CUDA_VISIBLE_DEVICES"] = ""  # `device: auto` is the CPU then
        if sys.platform == "linux":
            # By the host's name, gloo may find an address behind a firewall.
            variables.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return variables


def _look_for_gpus(wanted: int) -> None:
    import torch

    if (there := torch.cuda.device_count()) < wanted:
        raise ConfigError(
            f"train.gpus: {wanted}, but torch {torch.__version__} sees {there} GPUs. Write `gpus: {there}`"
        )


def _run(folder: Path, processes: int, variables: Mapping[str, str]) -> None:
    """Run torchrun to its end, with its files in ``folder``; raise the error or signal that ended training early.

    Torchrun has a session of its own: Ctrl-C at a terminal reaches this process alone, which tells process 0, which
    decides for all.
    """
    from psp.training.saving.checkpoint import StopRequest

    program = ["-m", "psp.training.worker", str(folder / JOB)]
    with StopRequest().listening() as stop, (folder / "torchrun.txt").open("wb") as words:
        torchrun = subprocess.Popen(
            command(processes, *program),
            env=variables,
            stdin=subprocess.PIPE,
            stdout=2,  # the processes' way to our standard error; see the worker
            stderr=words,
            start_new_session=True,
        )
        assert torchrun.stdin is not None
        with torchrun.stdin:  # leaving this block in any way ends all processes
            told = False
            while torchrun.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    torchrun.wait(LOOK_EVERY)
                if stop.signal is not None and not told and (pid := _states(folder, 1)[0].get("pid")):
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGTERM)
                    told = True
        _report(folder, processes, stop.signal)


def _states(folder: Path, processes: int) -> list[dict[str, Any]]:
    """Each process's last report."""
    paths = [folder / f"rank-{rank}.json" for rank in range(processes)]
    return [read_json(path) if path.exists() else {"end": None} for path in paths]


def _report(folder: Path, processes: int, asked_by: int | None) -> None:
    """Raise the error or signal that ended training early, if any; ``asked_by`` is the signal that asked for it."""
    from psp.training.saving.checkpoint import Stopped

    states = _states(folder, processes)
    ends = [state["end"] for state in states]
    again = "start the same training again: it resumes from its last checkpoint, if there is one"
    if all(end == "done" for end in ends):
        return
    if "error" in ends:
        raise PspError(states[ends.index("error")]["message"])
    if "bug" in ends:
        rank = ends.index("bug")
        raise RuntimeError(f"process {rank} of {processes} failed\n{states[rank]['message']}")
    silent = [rank for rank, end in enumerate(ends) if end is None]
    if silent and asked_by is not None:
        raise Stopped(f"training was stopped before it could write a checkpoint; {again}", asked_by)
    if silent and any("pid" in state or state["end"] for state in states):
        which = f"number {silent[0]} was" if len(silent) == 1 else f"numbers {' and '.join(map(str, silent))} were"
        raise PspError(
            f"of {processes} processes that train together {which} killed (by the system, if memory ran out); {again}"
        )
    if "stopped" in ends:
        raise Stopped(states[ends.index("stopped")]["message"], asked_by or signal.SIGTERM)
    words = (folder / "torchrun.txt").read_text(encoding="utf-8", errors="replace")
    lost = [state["message"] for state in states if state["end"] == "lost"]
    raise RuntimeError("\n".join(["the processes did not connect to each other", *lost, words[-LAST_WORDS:]]))
