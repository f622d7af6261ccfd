"""LSTM encoders in torch: the vectors of :mod:`psp.models.lstm`, in float32 or in bfloat16.

In float32 they differ from NumPy's by about 1e-7. In bfloat16, whose 8 significant bits hold the matrices, the
embeddings and the states, the cosine of a text's two vectors is above 0.999; means are taken in float32. Torch uses as
many threads as it is told to (``torch.set_num_threads``). Needs torch, which ``import psp`` does not load.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.models.lstm import MEAN, Lstm, StateBlock

PRECISIONS = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class TorchLstm(Lstm):
    """The same LSTM, computed by torch on the CPU.

    Args:
        lstm: the LSTM; its matrices are not copied, except in bfloat16.
        precision: ``float32`` or ``bfloat16``.
    """

    # With NumPy's blocks of 512 sentences, torch's float32 takes 15% more time: they have more padding.
    _together = 128

    def __init__(self, lstm: Lstm, precision: str) -> None:
        self.precision = precision
        super().__init__(lstm.directions, lstm.combine, lstm.pooling)

    def __reduce__(self) -> tuple[Any, ...]:
        return TorchLstm, (Lstm(self.directions, self.combine, self.pooling), self.precision)

    def _prepare(self) -> None:
        dtype = PRECISIONS[self.precision]
        # Torch adds a second bias.
        self._weights = [
            [torch.tensor(matrix, dtype=dtype) for matrix in (*direction, np.zeros_like(direction.bias))]
            for direction in self.directions
        ]

    def _run(self, number: int, block: StateBlock) -> npt.NDArray[np.float32]:
        states, inside = self._read(number, block)
        if self.pooling == MEAN:
            pooled = (states * inside).sum(0, dtype=torch.float32) / torch.from_numpy(block.lengths)[:, None]
        else:
            pooled = states.masked_fill(~inside, -torch.inf).amax(0).float()
        return pooled.numpy()

    def _states(self, number: int, block: StateBlock) -> npt.NDArray[np.float32]:
        states, inside = self._read(number, block)
        steps = _steps(block, bool(number))
        ordered = np.empty((len(block.ids), self.width), np.float32)
        inside = inside[:, :, 0]
        ordered[steps[inside.numpy()]] = states[inside].float().numpy()
        return ordered

    def _read(self, number: int, block: StateBlock) -> tuple[Tensor, Tensor]:
        """One direction's states of padded sentences, (longest, n, width), and which are of tokens, (longest, n, 1)."""
        weights = self._weights[number]
        embeddings = torch.from_numpy(block.embeddings).to(weights[0].dtype)
        inputs = embeddings[torch.from_numpy(block.ids[_steps(block, bool(number))])]
        start = torch.zeros(1, inputs.shape[1], self.width, dtype=inputs.dtype)
        with torch.no_grad():
            states = torch.lstm(inputs, (start, start), weights, True, 1, 0.0, False, False, False)[0]
        inside = np.arange(len(inputs))[:, None] < block.lengths
        return states, torch.from_numpy(inside)[:, :, None]


def has_bfloat16(kind: str) -> bool:
    """Whether ``torch.nn.LSTM`` runs under autocast to bfloat16; on processors without AVX-512 it raises RuntimeError.

    Args:
        kind: of the device, as ``torch.device.type``.
    """
    return kind != "cpu" or bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())


def _steps(block: StateBlock, reverse: bool) -> npt.NDArray[np.int64]:
    """The position of ``block.ids`` that is read at each step of each sentence, (longest, n); then its last again."""
    steps = np.minimum(np.arange(block.lengths[0])[:, None], block.lengths - 1)
    places: npt.NDArray[np.int64] = block.starts + (block.lengths - 1 - steps if reverse else steps)
    return places
