"""Train in one process or, through torchrun, in several, whose end is reported in one line.

With ``train.processes`` or ``train.gpus`` above 1, ``python -m torch.distributed.run --standalone`` starts that many of
:mod:`psp.training.worker`, which meet in :mod:`psp.training.process_group`. The job itself then trains nothing: it
waits, passes Ctrl-C and SIGTERM on, and reports. No process outlives it, even if it is killed: each worker's standard
input is a pipe whose other end the job holds, and when that closes, the worker ends.

With ``nodes`` above 1, srun starts a torchrun on each machine of the Slurm job, which meet at the first machine's; the
file of the job is then beside the training's, on the disk that all share.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pickle
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from psp.core.errors import ConfigError, PspError
from psp.core.files import read_json

if TYPE_CHECKING:
    from psp.training.loop import Training
    from psp.training.transformer import TransformerTraining

    Job: TypeAlias = Training | TransformerTraining

LOOK_EVERY = 0.2  # seconds between checks for a request to stop
JOB = "job.pickle"  # for the processes, which have the same code: the training and its log
LAST_WORDS = 2000  # characters of torchrun's output, if no process reported anything


def count(train: Mapping[str, Any]) -> int:
    """The number of processes that the keys ``processes``, ``gpus`` and ``nodes`` of a block ``train`` request."""
    return on_a_node(train) * int(train["nodes"])


def on_a_node(train: Mapping[str, Any]) -> int:
    """The number of them on each machine."""
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


def train_in_processes(job: Job, log: Path | str | None = None) -> Mapping[str, Any]:
    """Train in as many processes as requested.

    Args:
        job: the training, in ``processes`` on the CPU of each machine, each with a copy of the table and its moments,
            or in ``gpus`` with a GPU each, where that is not 0; its ``threads`` are those of a machine's processes
            together.
        log: the job's log file, which process 0 continues; None = standard error.

    Returns:
        What train.json holds.

    Raises:
        ConfigError: there are fewer GPUs, or for several machines no Slurm job that has them.
        PspError: as the training's ``run``, or a process was killed.
        Stopped: by Ctrl-C or SIGTERM; the same call resumes.
    """
    if job.gpus:
        _look_for_gpus(job.gpus)
    together = max(job.processes, job.gpus)
    job = dataclasses.replace(job, threads=max(job.threads // together, 1))
    if together * job.nodes == 1:
        return job.run()
    shared = None
    if job.nodes > 1:
        _look_for_nodes(job.nodes)
        shared = job.train_dir
        shared.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="psp-train-", dir=shared) as folder:
        (Path(folder) / JOB).write_bytes(pickle.dumps((job, log)))
        program = ["-m", "psp.training.worker", str(Path(folder, JOB).absolute())]
        torchrun = command(together, *program, nodes=job.nodes, threads=job.threads)
        _run(Path(folder), torchrun, together * job.nodes, environment(job.threads, job.gpus, job.nodes))
    return dict(read_json(job.train_dir / "train.json"))


def command(processes: int, *program: str, nodes: int = 1, threads: int = 1) -> list[str]:
    """The command line of torchrun for processes on this machine, which find each other at a port that is free.

    For several machines it is srun's, with a torchrun on each. The process of rank 0 is then on this machine too.

    Args:
        processes: on each machine.
        program: what each runs.
        nodes: machines.
        threads: of a process, for srun.
    """
    torchrun = [sys.executable, "-m", "torch.distributed.run"]
    if nodes == 1:
        meet = ["--standalone", "--local-addr=127.0.0.1"]
        return [*torchrun, *meet, f"--nproc-per-node={processes}", *program]
    with socket.socket() as free:
        free.bind(("", 0))
        port = free.getsockname()[1]
    meet = [f"--nnodes={nodes}", f"--master-addr={socket.gethostname()}", f"--master-port={port}"]
    # The step that runs us holds the job's processors and memory: ours shares them. srun numbers machines in the job's
    # order, and a step of one machine is on the first.
    share = ["--overlap", "--mem=0", f"--cpus-per-task={processes * threads}", "--kill-on-bad-exit=1"]
    srun = ["srun", *share, f"--nodes={nodes}", f"--ntasks={nodes}", "--ntasks-per-node=1"]
    line = shlex.join([*torchrun, *meet, f"--nproc-per-node={processes}"])
    return [*srun, "sh", "-c", f'exec {line} --node-rank="$SLURM_NODEID" "$@"', "sh", *program]


def environment(threads: int, gpus: int, nodes: int = 1) -> dict[str, str]:
    """The variables for torchrun and the processes: this library, the number of threads, a network interface."""
    variables = dict(os.environ)
    library = str(Path(__file__).parents[2])
    variables["PYTHONPATH"] = os.pathsep.join(filter(None, [library, variables.get("PYTHONPATH")]))
    variables["PYTHONSAFEPATH"] = "1"  # a `psp` in the current folder may be another one
    if nodes > 1:  # those of our own step, on one machine, would be defaults of srun's
        kept = ("SLURM_JOB_ID", "SLURM_CONF")
        variables = {key: value for key, value in variables.items() if key in kept or not key.startswith("SLURM_")}
    variables["OMP_NUM_THREADS"] = str(threads)  # torchrun would set 1, and say so
    if not gpus:
        variables["CUDA_VISIBLE_DEVICES"] = ""  # `device: auto` is the CPU then
        if sys.platform == "linux" and nodes == 1:
            # By the host's name, gloo may find an address behind a firewall.
            variables.setdefault("GLOO_SOCKET_IFNAME", "lo")
    return variables


def _look_for_gpus(wanted: int) -> None:
    import torch

    if (there := torch.cuda.device_count()) < wanted:
        raise ConfigError(
            f"train.gpus: {wanted}, but torch {torch.__version__} sees {there} GPUs. Write `gpus: {there}`"
        )


def _look_for_nodes(wanted: int) -> None:
    if "SLURM_JOB_ID" not in os.environ:
        raise ConfigError(
            f"train.nodes: {wanted}, but this is no job of Slurm; run Snakemake with `--profile "
            "config/profiles/slurm`, or write `nodes: 1`"
        )


def _run(folder: Path, command: list[str], processes: int, variables: Mapping[str, str]) -> None:
    """Run torchrun to its end, with its files in ``folder``; raise the error or signal that ended training early.

    Torchrun has a session of its own: Ctrl-C at a terminal reaches this process alone, which tells process 0, which
    decides for all.
    """
    from psp.training.saving.checkpoint import StopRequest

    with StopRequest().listening() as stop, (folder / "torchrun.txt").open("wb") as words:
        torchrun = subprocess.Popen(
            command,
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
