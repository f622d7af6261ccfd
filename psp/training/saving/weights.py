"""Snapshots of weights on disk: in memory, the best weights would take as much as the model itself."""

from __future__ import annotations

import contextlib
import mmap
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO

import numpy as np
import torch
from torch import Tensor

from psp.core.errors import DataError


class WeightSnapshot:
    """Keeps a copy of named tensors in unnamed files, of which nothing remains however the process ends.

    Args:
        folder: on whose disk; None = where the system has temporary files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._files: dict[str, tuple[IO[bytes], torch.dtype, torch.Size]] = {}

    def __bool__(self) -> bool:
        """Whether it holds anything."""
        return bool(self._files)

    def put(self, weights: Mapping[str, Tensor]) -> None:
        """Keep these weights in place of the former ones.

        Raises:
            DataError: the disk is full.
        """
        with self._told():
            for name, weight in weights.items():
                file = self._file(name, weight)
                file.seek(0)
                file.write(_bytes(weight))
                file.flush()

    def tensors(self) -> dict[str, Tensor]:
        """What it holds, on the CPU; read from disk as it is used."""
        tensors = {}
        for name, (file, dtype, shape) in self._files.items():
            if not shape.numel():
                tensors[name] = torch.empty(shape, dtype=dtype)
                continue
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            tensors[name] = torch.from_numpy(np.frombuffer(mapped, dtype=np.uint8)).view(dtype).reshape(shape)
        return tensors

    def _file(self, name: str, weight: Tensor) -> IO[bytes]:
        if name not in self._files:
            new = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (it is open as long as this object)
            self._files[name] = (new, weight.dtype, weight.shape)
        return self._files[name][0]

    @contextlib.contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            where = self._folder or Path(tempfile.gettempdir())
            raise DataError(
                f"a snapshot of the weights cannot be written there: {error.strerror}; free space", where
            ) from error


def _bytes(weight: Tensor) -> memoryview:
    return weight.detach().cpu().reshape(-1).view(torch.uint8).numpy().data
