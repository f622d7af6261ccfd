"""The settings of LSTM and BLSTM encoders: the config's block `lstm`."""

from __future__ import annotations

from dataclasses import dataclass

from psp.training import settings_base as field
from psp.training.settings_base import CheckedSettings


@dataclass(frozen=True)
class LstmSettings(CheckedSettings):
    """Settings of LSTM and BLSTM encoders, in addition to those of training (:mod:`psp.training.encoders.lstm`).

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "lstm"

    width: int | None = field.integer(
        None, at_least=1, null=True, help="dimensions of a hidden state; null: as many as `train.dim`"
    )
    combine: str = field.choice(
        "average",
        ["average", "concat"],
        recipes={"paranmt": "average"},
        help="how a BLSTM's two states of a position are joined: averaged, or concatenated to twice the dimensions",
    )
    pooling: str = field.choice(
        "mean",
        ["mean", "max"],
        recipes={"paranmt": "mean"},
        help="a sentence's vector: the mean of its states, or their maximum in each dimension",
    )
    scramble: float = field.number(
        0.3,
        at_least=0,
        at_most=1,
        recipes={"paranmt": 0.3},
        help="probability that a training sentence's tokens are shuffled (the paper: its words, of 30% of the pairs)",
    )
    learning_rate: float = field.number(
        0.003,
        above=0,
        recipes={"paranmt": 0.001},
        help="Adam's learning rate for the LSTM's matrices, with the schedule of `train`; the embeddings have "
        "`train.learning_rate`",
    )
    clip: float | None = field.number(
        1,
        above=0,
        null=True,
        recipes={"paranmt": None},
        unstated=["paranmt"],
        help="clip the norm of the matrices' gradient to this value; null: never",
    )
    precision: str = field.choice(
        "float32",
        ["float32", "bfloat16", "auto"],
        help="bfloat16: compute the LSTM's products in it, while its matrices, the embeddings and the trained model "
        "stay float32; auto: on hardware with bfloat16 instructions, where it is faster",
    )
