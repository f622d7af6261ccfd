"""TensorBoard event files: training's metrics, live (``tensorboard --logdir results/fr/train``).

The names written are ``train/loss``, ``train/megabatch``, ``train/learning_rate``, ``train/pairs_per_second`` and
``dev/<score>``. Event files hold the time of each point, and so are never compared.
"""

from __future__ import annotations

import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO

from psp.core.errors import DataError

PREFIX = "events.out.tfevents."  # TensorBoard reads what has "tfevents" in its name, in the order of the names


class TensorBoardWriter:
    """Write points of curves into an event file; each call's points are one write, visible at once.

    tensorboardX provides the records and their checksums; its SummaryWriter is not used, because it writes from a
    thread: on a full disk the thread dies and the training waits for its queue for ever (seen with 2.6.5).

    Args:
        folder: for the event files, created if needed. Files are numbered, one for each start.
        purge_from_step: None begins a new training: event files already in the folder are removed. A number resumes
            one: TensorBoard forgets all earlier points of this step and later ones, which a killed run wrote
            after its last checkpoint. After a checkpoint of step N, give N + 1.

    Raises:
        DataError: the folder cannot be written to.
    """

    def __init__(self, folder: Path, purge_from_step: int | None = None) -> None:
        from tensorboardX.proto.event_pb2 import Event, SessionLog  # a second to import: for training alone

        try:
            folder.mkdir(parents=True, exist_ok=True)
            numbers = []
            for path in folder.glob(f"{PREFIX}*"):
                if purge_from_step is None:
                    path.unlink()
                elif (end := path.name.removeprefix(PREFIX)).isdecimal():
                    numbers.append(int(end))
            self._path = folder / f"{PREFIX}{max(numbers, default=0) + 1:06d}"
            self._file: IO[bytes] = self._path.open("xb", buffering=0)
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; choose another folder", folder) from error
        self._write(Event(wall_time=time.time(), file_version="brain.Event:2"))
        if purge_from_step is not None:
            start = SessionLog(status=SessionLog.START)
            self._write(Event(wall_time=time.time(), step=purge_from_step, session_log=start))

    def scalars(self, step: int, values: Mapping[str, float | None]) -> None:
        """Add a point at ``step`` to each curve named; None, a missing figure, is left out.

        Raises:
            DataError: the disk is full.
        """
        from tensorboardX.proto.event_pb2 import Event
        from tensorboardX.proto.summary_pb2 import Summary

        points = [Summary.Value(tag=name, simple_value=value) for name, value in values.items() if value is not None]
        if points:
            self._write(Event(wall_time=time.time(), step=step, summary=Summary(value=points)))

    def close(self) -> None:
        """Close the file; no points can be added after that."""
        self._file.close()

    def _write(self, event: object) -> None:
        from tensorboardX.record_writer import masked_crc32c

        data: bytes = event.SerializeToString()  # type: ignore[attr-defined]
        length = struct.pack("<Q", len(data))
        checksums = (struct.pack("<I", masked_crc32c(part)) for part in (length, data))
        record = b"".join([length, next(checksums), data, next(checksums)])
        try:
            while record:  # a full disk takes a part of it first; only the next write fails
                record = record[self._file.write(record) :]
        except OSError as error:
            raise DataError(f"cannot be written: {error.strerror}; free space and train again", self._path) from error
