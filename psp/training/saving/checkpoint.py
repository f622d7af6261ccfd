"""Checkpoints: everything that training needs to resume as if nothing had happened.

Each is a folder, ``step-000012800/``, which appears whole or not at all: one safetensors file per tensor (written one
by one, so that there is never a second copy of all of them in memory), ``state.json`` for everything else, the metrics
files as they were, and ``SHA256SUMS`` over all of these. No pickle. A tensor that has not changed since the previous
checkpoint is a hard link to the same file.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import logging
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from psp.config.blocks.training import CheckpointSchedule
from psp.core import run
from psp.core.errors import DataError, PspError
from psp.core.files import read_json, sha256, write_json

log = logging.getLogger(__name__)

FORMAT, VERSION = "psp-checkpoint", 1
STATE, SUMS = "state.json", "SHA256SUMS"
#: Parts of a training run's identity that belong to the machine rather than to the request.
CONDITIONS = ("threads", "device")
_NAME = re.compile(r"step-(\d{9,})")


class Damaged(DataError):
    """A checkpoint has changed since it was written."""


class Checkpoint(NamedTuple):
    """An existing checkpoint.

    Attributes:
        folder: its folder.
        state: what was saved besides tensors.
        sums: the SHA-256 of each of its files.
    """

    folder: Path
    state: Mapping[str, Any]
    sums: Mapping[str, str]

    @classmethod
    def read(cls, folder: Path) -> Checkpoint:
        """Open a checkpoint and verify that all its files are as written; takes 1 s per GB.

        Raises:
            Damaged: they are not.
            DataError: a file cannot be read.
        """
        try:
            lines = (folder / SUMS).read_text(encoding="utf-8").split("\n")
            sums = {name: digest for digest, _, name in (line.partition("  ") for line in lines) if name}
            if STATE not in sums:  # it is the last line
                raise Damaged(f"is cut short in {SUMS}", folder)
            for name, digest in sums.items():
                if sha256(folder / name) != digest:
                    raise Damaged(f"is damaged ({name} is not as it was written)", folder)
        except (FileNotFoundError, UnicodeDecodeError) as error:
            raise Damaged(f"is damaged ({error})", folder) from error
        except OSError as error:
            raise DataError(
                f"cannot be read: {error.strerror}; start again when it can, or remove its folder to go on from the "
                "one before",
                error.filename or folder,
            ) from error
        return cls(folder, read_json(folder / STATE), sums)

    def tensor(self, name: str) -> Tensor:
        """The tensor saved under a name; copy it, because its memory is the file."""
        path = self.folder / f"{name}.safetensors"
        try:
            return load_file(path)["data"]
        except (OSError, SafetensorError, KeyError) as error:
            raise DataError(f"cannot be read: {error}", path) from error

    def files(self, names: Sequence[str]) -> dict[str, bytes]:
        """The contents of these files, as far as the checkpoint has them."""
        return {name: (self.folder / name).read_bytes() for name in names if name in self.sums}

    def names(self, prefix: str) -> list[str]:
        """Names of tensors that begin with ``prefix``."""
        return sorted(name.removesuffix(".safetensors") for name in self.sums if name.startswith(prefix))


class Checkpoints:
    """The checkpoints of one training run.

    Args:
        folder: where they are kept.
        identity: what the run depends on (settings, data, code, threads); JSON. A checkpoint with another identity
            belongs to another run.
        when: how often to write one, and how many to keep.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], when: CheckpointSchedule) -> None:
        self.folder, self.when = folder, when
        self._identity: dict[str, Any] = json.loads(json.dumps(identity, default=str))  # as it will be read back
        self._last_time, self._last_step = time.monotonic(), 0
        self._before: Checkpoint | None = None  # read or written by this process

    def latest(self) -> Checkpoint | None:
        """The newest checkpoint of this training run, if any.

        Checkpoints of other runs, and damaged ones, are removed, and the log says why: training resumes from an older
        one, or starts again, with the same result.

        Raises:
            DataError: it was made with other threads or another device, and so with different rounding; or
                it cannot be read.
        """
        for folder in reversed(self._folders()):
            try:
                checkpoint = Checkpoint.read(folder)
            except Damaged as error:
                log.warning("%s; removed. The one before it is used instead, if there is one", error)
                _remove(folder)
                continue
            step = checkpoint.state["step"]
            changes = self._changes(checkpoint.state)
            if not changes:
                self._before, self._last_step = checkpoint, step
                return checkpoint
            if all(change.startswith(CONDITIONS) for change in changes):
                raise DataError(
                    f"holds a training at step {step:,}, and {', '.join(changes)}: rounding would differ. "
                    "Continue with the old values, or remove the folder to start over",
                    self.folder,
                )
            log.warning("%s: a checkpoint of another training (%s), removed", folder, ", ".join(changes))
            _remove(folder)
        return None

    def due(self, step: int) -> bool:
        """Whether the next checkpoint is due."""
        minutes, steps = self.when.minutes, self.when.steps
        by_time = minutes is not None and time.monotonic() - self._last_time >= 60 * minutes
        return by_time or (steps is not None and step - self._last_step >= steps)

    def save(
        self, step: int, tensors: Mapping[str, Tensor], state: Mapping[str, Any], files: Mapping[str, bytes], same: str
    ) -> Path:
        """Write a checkpoint, then remove those that are too old.

        Args:
            step: the training step.
            tensors: by name; names must be valid in file names.
            state: everything else, as JSON.
            files: contents of additional files, by name.
            same: tensors with this prefix are unchanged since the previous checkpoint if ``state[same]`` is.

        Raises:
            DataError: the disk is full; earlier checkpoints are intact.
        """
        folder = self.folder / f"step-{step:09d}"
        partial = self.folder / f".{folder.name}.part"
        state = {"format": FORMAT, "version": VERSION, "identity": self._identity, "step": step, **state}
        before = self._before
        if before is not None and before.state[same] != state[same]:
            before = None
        sums: dict[str, str] = {}
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            for left in self.folder.glob(".step-*.part"):  # left by a process killed while writing
                _remove(left)
            partial.mkdir()
            for name, tensor in tensors.items():
                path = partial / f"{name}.safetensors"
                if before and name.startswith(same) and _linked(before.folder / path.name, path):
                    sums[path.name] = before.sums[path.name]
                else:
                    save_file({"data": tensor.detach().cpu().contiguous()}, path)
                    sums[path.name] = sha256(path)
            for name, content in files.items():
                (partial / name).write_bytes(content)
                sums[name] = sha256(partial / name)
            write_json(partial / STATE, state)
            sums[STATE] = sha256(partial / STATE)
            lines = "".join(f"{digest}  {name}\n" for name, digest in sums.items())
            (partial / SUMS).write_text(lines, encoding="utf-8", newline="\n")
            for path in (*partial.iterdir(), partial):
                _to_disk(path)
            _remove(folder)
            partial.replace(folder)
            _to_disk(self.folder)
        except (OSError, SafetensorError) as error:
            _remove(partial)
            raise DataError(f"the checkpoint cannot be written: {error}; free space and train again", folder) from error
        except DataError as error:  # it names a file of the folder that goes
            _remove(partial)
            raise DataError(str(error).replace(str(partial), str(folder))) from error
        for path in self._folders()[: -self.when.keep]:
            _remove(path)
        self._before = Checkpoint(folder, state, sums)
        self._last_time, self._last_step = time.monotonic(), step
        log.info("checkpoint at step %d: %s", step, folder)
        return folder

    def clear(self) -> None:
        """Remove all checkpoints: training has finished."""
        _remove(self.folder)

    def _folders(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        folders = {int(match[1]): path for path in self.folder.iterdir() if (match := _NAME.fullmatch(path.name))}
        return [folders[step] for step in sorted(folders)]

    def _changes(self, state: Mapping[str, Any]) -> list[str]:
        """The differences between this run and the one that wrote a checkpoint's state."""
        if (state["format"], state["version"]) != (FORMAT, VERSION):
            return [f"its format is {state['format']} {state['version']}, now {FORMAT} {VERSION}"]
        return list(_differences(state["identity"], self._identity))


def _differences(was: Any, now: Any, name: str = "") -> Iterator[str]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key in {**was, **now}:
            yield from _differences(was.get(key), now.get(key), f"{name}.{key}" if name else key)
    elif was != now:
        values = [json.dumps(value) for value in (was, now)]
        known = max(map(len, values)) < 40  # not a hash
        yield f"{name} was {values[0]}, now {values[1]}" if known else f"another {name}"


def _remove(folder: Path) -> None:
    # What cannot be removed (an open file, on some network drives) only takes space.
    shutil.rmtree(folder, ignore_errors=True)


def _linked(old: Path, new: Path) -> bool:
    try:
        os.link(old, new)
    except OSError:  # a file system without hard links
        return False
    return True


def _to_disk(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def sole(folder: Path, patience: float = 60.0) -> Iterator[None]:
    """Be the only process that trains in ``folder``, which is created if needed.

    If only Snakemake is killed, its job goes on. The next job must not train beside it, or each would write into the
    other's checkpoints; it waits ``patience`` seconds for it to end. On file systems without locks there is no such
    protection.

    Raises:
        DataError: another process is still training there.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise DataError(f"cannot be written: {error.strerror}; choose another folder", folder) from error
    try:
        deadline = time.monotonic() + patience
        waiting = False
        while not _locked(handle):
            if time.monotonic() > deadline:
                raise DataError(
                    "another process is training there (`fuser` with this folder shows its number); let it end, or "
                    "stop it with `kill` (it then saves a checkpoint), and start again",
                    folder,
                )
            if not waiting:
                log.warning("%s: another process is training there; waiting for it to end", folder)
            waiting = True
            time.sleep(0.1)
        run.check()  # it may have ended in the meantime
        yield
    finally:
        os.close(handle)  # releases the lock, as does killing the process


def _locked(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return error.errno not in (errno.EWOULDBLOCK, errno.EAGAIN)
    return True


class Stopped(PspError):
    """A signal stopped training; the process exits with the status of one killed by that signal."""

    def __init__(self, message: str, number: int) -> None:
        super().__init__(message)
        self.status = 128 + number


class StopRequest:
    """Remembers Ctrl-C and SIGTERM until training can stop cleanly; a second signal acts at once.

    :meth:`listening` is a context manager; outside the main thread, where Python allows no signal handlers, it does
    nothing.
    """

    def __init__(self) -> None:
        self.signal: int | None = None
        self._twice = False

    @contextlib.contextmanager
    def listening(self) -> Iterator[StopRequest]:
        before = {}
        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                with contextlib.suppress(ValueError):  # not the main thread
                    before[number] = signal.signal(number, self._received)
            yield self
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def check(self) -> None:
        """Act on a second signal that was lost, since Python ignores exceptions during finalisation.

        Raises:
            KeyboardInterrupt: there was one.
        """
        if self._twice:
            raise KeyboardInterrupt

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            self._twice = True
            raise KeyboardInterrupt
        self.signal = number
        log.warning(
            "%s: stopping soon, with a checkpoint; once more stops at once, without", signal.Signals(number).name
        )
