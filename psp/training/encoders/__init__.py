"""Trainable encoders: ids in, one vector per sentence out. They are means of embeddings, or LSTMs over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from psp.config.blocks.training import JOINT, LSTMS, LstmSettings
from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

    from psp.training.encoders.base import Encoder
    from psp.training.optimiser import RowOptimiser

MEAN = "mean"


def make_encoder(table: Tensor, train: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Encoder, RowOptimiser]:
    """An encoder over an initial embedding matrix, on the matrix's device, and the optimiser of its parameters.

    Args:
        table: float32 (rows, dim).
        train: the keys of the block ``train``.
        own: as :func:`checked_encoder` returns it; not of several encoders.
    """
    if own["kind"] == MEAN:
        from psp.training.encoders.mean import mean_encoder

        return mean_encoder(table, train)
    from psp.training.encoders.lstm import lstm_encoder

    return lstm_encoder(table, train, own)


def checked_encoder(encoder: Mapping[str, Any] | None) -> dict[str, Any]:
    """All settings of an encoder, ready for JSON: its ``kind`` and the kind's keys; {"kind": "mean"} for None.

    Raises:
        ConfigError: an unknown kind or key, or a value that is not allowed.
    """
    own = dict(encoder or {"kind": MEAN})
    if own["kind"] == JOINT:
        return own | {"parts": [{**part, "encoder": checked_encoder(part["encoder"])} for part in own["parts"]]}
    kind = own.pop("kind")
    if kind in LSTMS:
        return {"kind": kind, **LstmSettings.of(own).as_dict()}
    if kind != MEAN:
        raise ConfigError(f"train.encoder: {kind!r} is not allowed; allowed is {' or '.join((MEAN, *LSTMS))}")
    return {"kind": kind, **own}
