"""Checkpoints: all that training needs to go on as if nothing had happened.

One folder each, ``step-000012800/``, which appears whole or not at all: a safetensors file for each tensor (written one
by one, so that no second copy of all of them is in memory), ``state.json`` for everything else, and the tables of
metrics as they were. No pickle. A tensor that has not changed since the checkpoint before is the same file again, by a
hard link.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import re
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor

from psp.errors import DataError, PspError
from psp.files import read_json, write_json

log = logging.getLogger(__name__)

FORMAT, VERSION = "psp-checkpoint", 1
STATE = "state.json"
_NAME = re.compile(r"step-(\d{9})")


@dataclass(frozen=True)
class When:
    """When checkpoints are written; none of it changes what is trained.

    Attributes:
        minutes: since the last one; None = not by time.
        steps: since the last one; None = not by steps.
        keep: how many of the latest are kept.
    """

    minutes: float | None = 10.0
    steps: int | None = None
    keep: int = 2


class Checkpoint:
    """One that there is: its state, and its tensors when they are asked for."""

    def __init__(self, folder: Path, state: Mapping[str, Any]) -> None:
        self.folder, self.state = folder, state

    def tensor(self, name: str) -> Tensor:
        """The tensor saved by that name.

        Raises:
            DataError: it is missing or damaged.
        """
        path = self.folder / f"{name}.safetensors"
        try:
            return load_file(path)["data"]
        except (OSError, SafetensorError, KeyError) as error:
            raise DataError(
                f"cannot be read ({error}); remove its folder to go on from the one before", path
            ) from error

    def files(self, names: Sequence[str]) -> dict[str, bytes]:
        """The contents of those of the further files that it has."""
        paths = [self.folder / name for name in names]
        return {path.name: path.read_bytes() for path in paths if path.exists()}

    def names(self, prefix: str) -> list[str]:
        """Names of tensors that begin with ``prefix``."""
        return sorted(path.stem for path in self.folder.glob(f"{prefix}*.safetensors"))


class Checkpoints:
    """The checkpoints of one training.

    Args:
        folder: where they lie.
        identity: what the training depends on (settings, data, code, threads). A checkpoint of another identity is
            of another training: it is removed, and training starts at the beginning.
        when: how often, and how many are kept.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any], when: When) -> None:
        self.folder, self.when = folder, when
        text = json.dumps(identity, sort_keys=True, default=str)
        self._identity = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "of": json.loads(text)}
        self._last_time, self._last_step = time.monotonic(), 0

    def latest(self) -> Checkpoint | None:
        """The newest checkpoint of this training, if there is one; those of other trainings are removed.

        Raises:
            DataError: it is damaged, or of another version of the format.
        """
        for folder in reversed(self._folders()):
            state = read_json(folder / STATE)
            if not isinstance(state, dict) or state.get("format") != FORMAT or state.get("version") != VERSION:
                raise DataError(f"is not {FORMAT} version {VERSION}; remove its folder to start anew", folder / STATE)
            if state["identity"]["sha256"] == self._identity["sha256"]:
                self._last_step = state["step"]
                return Checkpoint(folder, state)
            log.warning("%s: of another training (%s), removed", folder, self._difference(state["identity"]["of"]))
            shutil.rmtree(folder)
        return None

    def due(self, step: int) -> bool:
        """Whether it is time for the next one."""
        minutes, steps = self.when.minutes, self.when.steps
        by_time = minutes is not None and time.monotonic() - self._last_time >= 60 * minutes
        return by_time or (steps is not None and step - self._last_step >= steps)

    def save(
        self, step: int, tensors: Mapping[str, Tensor], state: Mapping[str, Any], files: Mapping[str, bytes], same: str
    ) -> Path:
        """Write a checkpoint, then remove those that are too old.

        Args:
            step: of the training.
            tensors: by names that are fit for files.
            state: everything else, as JSON.
            files: contents of further files, by name.
            same: tensors whose names begin so are those of the checkpoint before it, where ``state[same]`` is equal.

        Raises:
            DataError: the disk is full; the checkpoints before it are whole.
        """
        before = self._folders()
        folder = self.folder / f"step-{step:09d}"
        partial = self.folder / f".{folder.name}.part"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir()
            old = before[-1] if before and self._same(before[-1], state, same) else None
            for name, tensor in tensors.items():
                path = partial / f"{name}.safetensors"
                if old is None or not name.startswith(same) or not _linked(old / path.name, path):
                    save_file({"data": tensor.detach().cpu().contiguous()}, path)
            for name, content in files.items():
                (partial / name).write_bytes(content)
            head = {"format": FORMAT, "version": VERSION, "identity": self._identity, "step": step}
            write_json(partial / STATE, {**head, **state})
            for path in (*partial.iterdir(), partial):
                _to_disk(path)
            shutil.rmtree(folder, ignore_errors=True)
            partial.replace(folder)
            _to_disk(self.folder)
        except (OSError, SafetensorError) as error:
            shutil.rmtree(partial, ignore_errors=True)
            raise DataError(f"the checkpoint cannot be written: {error}; free space and train again", folder) from error
        for path in self._folders()[: -self.when.keep]:
            shutil.rmtree(path)
        self._last_time, self._last_step = time.monotonic(), step
        log.info("checkpoint at step %d: %s", step, folder)
        return folder

    def clear(self) -> None:
        """Remove them all: the training has ended, or starts anew."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _folders(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(path for path in self.folder.iterdir() if _NAME.fullmatch(path.name))

    def _same(self, folder: Path, state: Mapping[str, Any], same: str) -> bool:
        with contextlib.suppress(DataError):
            return bool(read_json(folder / STATE).get(same) == state.get(same))
        return False

    def _difference(self, other: Mapping[str, Any]) -> str:
        of = self._identity["of"]
        keys = [key for key in sorted({*of, *other}) if of.get(key) != other.get(key)]
        return f"other {', '.join(keys)}"


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


class Stopped(PspError):
    """Training was asked to stop, and can go on from a checkpoint."""


class StopRequest:
    """Ctrl-C and SIGTERM, remembered until training can stop well; a second one acts at once.

    A context manager; outside the main thread, where Python allows no handlers, it remembers nothing.
    """

    def __init__(self) -> None:
        self.signal: int | None = None

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

    def _received(self, number: int, frame: FrameType | None) -> None:
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number
        log.warning(
            "%s: stopping after this mega-batch, with a checkpoint; once more stops at once, without",
            signal.Signals(number).name,
        )
