"""Weights put aside on disk: the best ones so far would otherwise be as much memory again as the model."""

from __future__ import annotations

import mmap
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import IO

import numpy as np
import torch
from torch import Tensor

from psp.errors import DataError


class Aside:
    """Keeps a copy of named tensors in files without a name, which no end of the process leaves behind.

    Args:
        folder: on whose disk; None = where the system has temporary files.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._files: dict[str, tuple[IO[bytes], torch.dtype, torch.Size]] = {}

    def __bool__(self) -> bool:
        """Whether anything was put aside."""
        return bool(self._files)

    def put(self, weights: Mapping[str, Tensor]) -> None:
        """Put these aside, in the place of what was.

        Raises:
            DataError: the disk is full.
        """
        try:
            for name, weight in weights.items():
                if name not in self._files:
                    new = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (it is open as long as this object)
                    self._files[name] = (new, weight.dtype, weight.shape)
                file, _, _ = self._files[name]
                file.seek(0)
                file.write(weight.detach().cpu().reshape(-1).view(torch.uint8).numpy().data)
                file.flush()
        except OSError as error:
            where = self._folder or Path(tempfile.gettempdir())
            raise DataError(
                f"the best weights cannot be put aside there: {error.strerror}; free space", where
            ) from error

    def tensors(self) -> dict[str, Tensor]:
        """What was put aside last, on the CPU; read from disk where it is looked at."""
        found = {}
        for name, (file, dtype, shape) in self._files.items():
            if not shape.numel():
                found[name] = torch.empty(shape, dtype=dtype)
                continue
            mapped = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
            found[name] = torch.from_numpy(np.frombuffer(mapped, dtype=np.uint8)).view(dtype).reshape(shape)
        return found
