"""Trainings in processes of their own, to be killed, stopped and started again (imported by tests; not a test)."""

from __future__ import annotations

import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

#: Its children begin with everything imported, and no thread of their parent's.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["psp.training.loop", "psp.evaluation.development"])


@dataclass(frozen=True)
class Job:
    """A training: arguments of :func:`psp.training.loop.train`, in part, and what goes wrong with it.

    Attributes:
        catch_up: mini-batches after which a checkpoint may be written.
        die_at: the process kills itself (SIGKILL) at this one of the things that it does to its checkpoints ...
        die_of: ... of those that have such names.
        fill_at: after that many checkpoints the disk is full, for all but small files.
        teacher, teaching: the teacher's file, and the block of that name.
        changes: other fields of :class:`psp.training.loop.Training`.
    """

    pairs: Path
    sentencepiece: Path
    heldout: Path
    folder: Path
    settings: Mapping[str, Any]
    when: Mapping[str, Any] = field(default_factory=dict)
    catch_up: int = 5
    identity: Mapping[str, str] = field(default_factory=dict)
    threads: int = 1
    die_at: int | None = None
    die_of: tuple[str, ...] = ("open", "os.mkdir", "os.link", "os.rename", "os.remove", "os.rmdir", "os.scandir")
    fill_at: int | None = None
    teacher: Path | None = None
    teaching: Mapping[str, Any] | None = None
    changes: Mapping[str, Any] = field(default_factory=dict)

    def start(self) -> multiprocessing.process.BaseProcess:
        process = CONTEXT.Process(target=_train, args=(self,))
        process.start()
        return process

    def run(self) -> int:
        """Its exit status."""
        process = self.start()
        process.join()
        assert process.exitcode is not None
        return process.exitcode

    def log(self) -> str:
        return (self.folder / "log").read_text()

    def results(self) -> dict[str, bytes]:
        """The files whose bytes must not depend on interruptions."""
        names = (
            "model/model.safetensors",
            "model/config.json",
            "train/metrics.csv",
            "train/dev.csv",
            "train/train.json",
        )
        return {name: (self.folder / name).read_bytes() for name in names if (self.folder / name).exists()}

    def checkpoints(self) -> list[Path]:
        return sorted((self.folder / "train/checkpoints").glob("step-*"))


def after_kill_9(job: Job, folder: Path) -> Job:
    """The same training in another folder, killed where its third checkpoint gets its name, and started again."""
    killed = replace(job, folder=folder, when={"steps": 5}, die_at=3, die_of=("os.rename",))
    assert killed.run() == -signal.SIGKILL and killed.checkpoints()
    again = replace(killed, die_at=None)
    assert again.run() == 0
    assert "going on from step " in again.log()
    return again


def _train(job: Job) -> None:
    from psp.config.blocks.training import CheckpointSchedule
    from psp.core import logs
    from psp.evaluation.development import Development
    from psp.training import trainer
    from psp.training.loop import Training
    from psp.training.saving.checkpoint import Checkpoints

    trainer.CATCH_UP_EVERY = job.catch_up
    folder = job.folder / "train/checkpoints"
    if job.die_at is not None:
        _die_at(job.die_at, str(folder), job.die_of)
    if job.fill_at is not None:
        save, saved = Checkpoints.save, 0

        def full(self: Checkpoints, *arguments: Any, **options: Any) -> Path:
            nonlocal saved
            if saved == job.fill_at:
                resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))  # bytes: a write beyond them fails
            saved += 1
            return save(self, *arguments, **options)

        Checkpoints.save = full  # type: ignore[method-assign]
    with logs.job(job.folder / "log"):
        training = Training(
            job.pairs,
            job.sentencepiece,
            job.folder / "model",
            job.folder / "train",
            job.settings,
            Development(None, Development.load(None, job.heldout).heldout),
            threads=job.threads,
            model_config={"languages": ["en", "fr"], "lower_case": True, "segment": {}},
            checkpoints=CheckpointSchedule(**job.when),
            identity=job.identity,
            warn_pairs=0,
            teacher=job.teacher,
            teaching=job.teaching,
        )
        replace(training, **job.changes).run()


def _die_at(count: int, folder: str, events: Sequence[str]) -> None:
    """Kill this process at its ``count``-th such event for a file below ``folder``."""
    seen = 0

    def watch(event: str, arguments: Iterable[Any]) -> None:
        nonlocal seen
        if event in events and any(
            isinstance(argument, str | os.PathLike) and str(argument).startswith(folder) for argument in arguments
        ):
            seen += 1
            if seen == count:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(watch)
