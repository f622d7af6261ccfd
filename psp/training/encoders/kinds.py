"""The registry of encoders: how each kind is made, and which optimiser it takes for which parameters.

A kind is a file of its own in this folder, and an entry here; nothing heavy is imported before an encoder is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

    from psp.training.encoders.base import Encoder
    from psp.training.optimiser import RowOptimiser

#: Makes an encoder over an initial embedding matrix, float32 (rows, dim), with the keys of ``train`` and with its own
#: (``kind``, and whatever the kind has); and the optimiser of its parameters. Dense ones, beside the matrix, have
#: torch's Adam, with a learning rate of their own: a :class:`psp.training.optimiser.JointOptimiser` of both. Everything
#: is on the matrix's device.
Make = Callable[["Tensor", Mapping[str, Any], Mapping[str, Any]], "tuple[Encoder, RowOptimiser]"]


def _mean(table: Tensor, train: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Encoder, RowOptimiser]:
    from psp.training.encoders.mean import mean_encoder

    return mean_encoder(table, train)


def _lstm(table: Tensor, train: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Encoder, RowOptimiser]:
    from psp.training.encoders.lstm import lstm_encoder

    return lstm_encoder(table, train, own)


ENCODERS: dict[str, Make] = {"mean": _mean, "lstm": _lstm, "blstm": _lstm}


def names() -> tuple[str, ...]:
    """The kinds that there are."""
    return tuple(ENCODERS)


def find(kind: str) -> Make:
    """How that kind is made.

    Raises:
        ConfigError: there is no such kind.
    """
    if kind not in ENCODERS:
        raise ConfigError(f"train.encoder: {kind!r} is not allowed; allowed is {' or '.join(names())}")
    return ENCODERS[kind]
