"""The registry of encoders: how to make each kind, and which optimiser its parameters take.

Each kind has a file in this folder and an entry here; nothing heavy is imported before an encoder is made.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from psp.config.blocks.training import JOINT, LstmSettings
from psp.core.errors import ConfigError

if TYPE_CHECKING:
    from torch import Tensor

    from psp.training.encoders.base import Encoder
    from psp.training.optimiser import RowOptimiser

#: Makes an encoder over an initial embedding matrix, float32 (rows, dim), with the keys of ``train`` and its own
#: (``kind`` and the kind's keys); and the optimiser of its parameters. Dense ones, besides the matrix, have torch's
#: Adam, with a learning rate of their own: a :class:`psp.training.optimiser.JointOptimiser` of both. Everything is on
#: the matrix's device.
Make = Callable[["Tensor", Mapping[str, Any], Mapping[str, Any]], "tuple[Encoder, RowOptimiser]"]


def _mean(table: Tensor, train: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Encoder, RowOptimiser]:
    from psp.training.encoders.mean import mean_encoder

    return mean_encoder(table, train)


def _lstm(table: Tensor, train: Mapping[str, Any], own: Mapping[str, Any]) -> tuple[Encoder, RowOptimiser]:
    from psp.training.encoders.lstm import lstm_encoder

    return lstm_encoder(table, train, own)


@dataclass(frozen=True)
class EncoderKind:
    """A kind of encoder.

    Attributes:
        make: as above.
        settings: its own settings, which are a block of the config; None = it has none.
        adds_up: whether a sentence's vector is a mean of its pieces' rows, so that a row of zeros counts as no piece.
    """

    make: Make
    settings: type[LstmSettings] | None = None
    adds_up: bool = False


ENCODERS: dict[str, EncoderKind] = {
    "mean": EncoderKind(_mean, adds_up=True),
    "lstm": EncoderKind(_lstm, LstmSettings),
    "blstm": EncoderKind(_lstm, LstmSettings),
}


def names() -> tuple[str, ...]:
    """All kinds."""
    return tuple(ENCODERS)


def find(kind: str) -> EncoderKind:
    """The kind of that name.

    Raises:
        ConfigError: there is no such kind.
    """
    if kind not in ENCODERS:
        raise ConfigError(f"train.encoder: {kind!r} is not allowed; allowed is {' or '.join(names())}")
    return ENCODERS[kind]


def block_of(kind: str) -> str | None:
    """The block of the config with the settings of a kind; None for a tokenizer's name, which means a mean."""
    own = ENCODERS[kind].settings if kind in ENCODERS else None
    return own.BLOCK if own else None


def with_settings() -> tuple[str, ...]:
    """The kinds with settings of their own, which a config names as its `encoder`, like tokenizers."""
    return tuple(kind for kind in ENCODERS if block_of(kind))


def checked_encoder(encoder: Mapping[str, Any] | None) -> dict[str, Any]:
    """All settings of an encoder's kind, ready for JSON; {"kind": "mean"} for None.

    Raises:
        ConfigError: an unknown kind or key, or a value that is not allowed.
    """
    own = dict(encoder or {"kind": "mean"})
    if own["kind"] == JOINT:
        return own | {"parts": [{**part, "encoder": checked_encoder(part["encoder"])} for part in own["parts"]]}
    settings = find(own["kind"]).settings
    if settings is None:
        return own
    kind = own.pop("kind")
    return {"kind": kind, **settings.of(own).as_dict()}
