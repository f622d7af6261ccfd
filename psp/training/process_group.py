"""Data-parallel training in several processes (torchrun), each with the whole model and a share of the work.

They exchange a mega-batch's negatives and each step's gradients. All make the same step from the same sum, so their
models stay bitwise equal. They communicate by gloo on CPUs, by NCCL on GPUs.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import torch.distributed as dist
from torch import Tensor

from psp.core.errors import PspError


class PartnerLost(PspError):
    """Another process of the group has ended too early, by an error or a kill."""


class ProcessGroup:
    """The processes that train together, as one of them sees them; this one alone, unless torchrun started several.

    Attributes:
        rank: its number; process 0 writes the files.
        size: how many there are.
    """

    def __init__(self, device: torch.device | None = None, rank: int = 0, size: int = 1) -> None:
        self._device, self.rank, self.size = device, rank, size

    @staticmethod
    def wanted() -> bool:
        """Whether torchrun has started this process as one of several."""
        return int(os.environ.get("WORLD_SIZE", "1")) > 1

    @classmethod
    @contextlib.contextmanager
    def joined(cls, device: torch.device, patience: timedelta | None = None) -> Iterator[ProcessGroup]:
        """The group, until this process leaves it in good order; processes wait for one another for ``patience``.

        None is torch's limit.
        """
        if not cls.wanted():
            yield ALONE
            return
        if device.type == "cuda":
            torch.cuda.set_device(device)
        dist.init_process_group("nccl" if device.type == "cuda" else "gloo", timeout=patience)
        try:
            yield cls(device, dist.get_rank(), dist.get_world_size())
        finally:
            dist.destroy_process_group()

    def share(self, count: int) -> slice:
        """The part of ``count`` things that falls to this process."""
        return slice(count * self.rank // self.size, count * (self.rank + 1) // self.size)

    def gather(self, array: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """The arrays of all processes in the order of their ranks; they may differ in their first dimension."""
        return [part.cpu().numpy() for part in self.gather_tensors(torch.from_numpy(np.ascontiguousarray(array)))]

    def gather_tensors(self, tensor: Tensor) -> list[Tensor]:
        """As :meth:`gather`, on the device of the group."""
        if self.size == 1:
            return [tensor]
        tensor = tensor.to(self._device).contiguous()
        lengths = [int(length) for length in self._all(torch.tensor([len(tensor)], device=self._device))]
        padded = tensor.new_zeros((max(lengths), *tensor.shape[1:]))  # collectives want equal shapes
        padded[: len(tensor)] = tensor
        return [part[:length] for part, length in zip(self._all(padded), lengths, strict=True)]

    def _all(self, tensor: Tensor) -> list[Tensor]:
        parts = [torch.empty_like(tensor) for _ in range(self.size)]
        try:
            dist.all_gather(parts, tensor)
        except RuntimeError as error:
            raise PartnerLost(f"process {self.rank} has lost the others: {error}") from error
        return parts

    def add_gradients(self, parameters: Sequence[torch.nn.Parameter]) -> None:
        """Replace each parameter's gradient by the sum over all processes, with the same bits in each."""
        for parameter in parameters if self.size > 1 else ():
            gradient = parameter.grad
            if gradient is None:
                raise RuntimeError("a parameter has no gradient in this process")  # others would wait for it for ever
            if not gradient.is_sparse:
                total = self.gather_tensors(gradient[None])
                parameter.grad = torch.cat(total).sum(dim=0)
                continue
            rows = self.gather_tensors(gradient._indices()[0])
            values = self.gather_tensors(gradient._values())
            used, place = torch.unique(torch.cat(rows), return_inverse=True)
            total_values = values[0].new_zeros(len(used), *values[0].shape[1:])
            for part, where in zip(values, place.split([len(part) for part in rows]), strict=True):
                total_values.index_add_(0, where, part)  # distinct within a part: no order of addition to depend on
            parameter.grad = torch.sparse_coo_tensor(
                used[None], total_values, parameter.shape, is_coalesced=True, check_invariants=False
            )

    def total(self, value: float) -> float:
        """The sum over all processes."""
        return float(np.sum([part[0] for part in self.gather(np.array([value]))]))

    def first(self, flag: bool) -> bool:
        """The value of process 0."""
        return bool(self.gather(np.array([flag], dtype=np.int64))[0][0])


#: This process by itself.
ALONE = ProcessGroup()
