"""The block ``transformer``, and the encoder of a transformer's entry."""

from typing import ClassVar, Literal

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Text, about, setting
from psp.core.errors import ConfigError

#: Poolings of sentence-transformers, and psp's own.
LIBRARY_POOLINGS, LSTM_POOLINGS = ("mean", "cls", "max"), ("lstm", "bilstm")
#: Settings that a config has under ``encoder``, besides the base, since they define the model.
OF_ENCODER = ("pooling", "dim")


class _Learning(Block):
    """What a transformer is trained by; see :class:`TransformerSettings`."""

    BLOCK: ClassVar[str] = "transformer"

    batch_size: int = setting(
        64,
        "pairs per mini-batch, over all processes; no text occurs twice in a mini-batch",
        recipes={"dadas": 64},
        ge=2,
    )
    epochs: int = setting(1, "passes over the pairs", recipes={"dadas": 3}, ge=1)
    learning_rate: float = setting(
        2e-05,
        "AdamW's peak learning rate; it then falls to 0 linearly",
        recipes={"dadas": 2e-05},
        unstated=["dadas"],  # lost in the paper's text: the library's default
        gt=0,
    )
    warmup: float = setting(0.1, "share of training in which the rate rises from 0", recipes={"dadas": 0.1}, ge=0, lt=1)
    scale: float = setting(
        20, "cosines are multiplied by this before the softmax", recipes={"dadas": 20}, unstated=["dadas"], gt=0
    )
    directions: Literal["both", "source"] = setting(
        "both",
        "source: rank the targets for each source; both: also the sources for each target, and average the two losses",
        recipes={"dadas": "source"},
    )
    max_length: int = setting(
        64,
        "tokens of a text that are read, up to the base's own limit; the rest is cut",
        recipes={"dadas": 512},
        unstated=["dadas"],  # not set, so the base's
        ge=4,
    )
    cached: int | None = setting(
        None,
        "texts that go through the transformer at a time, for mini-batches that do not fit into memory "
        "(the library's CachedMultipleNegativesRankingLoss); null: a whole mini-batch",
        ge=1,
    )
    precision: Literal["float32", "bfloat16", "auto"] = setting(
        "float32",
        "bfloat16: compute products in it, while weights stay float32; auto: on hardware with bfloat16 "
        "instructions, where it is faster",
        recipes={"dadas": "auto"},  # mixed precision; the paper's is float16, on a GPU
    )
    device: Literal["auto", "cpu", "cuda"] = setting("auto", "auto uses a GPU if there is one", inert=True)
    log_every: int = setting(50, "mini-batches per row of metrics.csv", inert=True, ge=1)
    checkpoint_steps: int | None = setting(
        500,
        "mini-batches between two checkpoints, from which a killed training run resumes; null for none",
        inert=True,
        ge=1,
    )


class _Pooled(Block):
    """How token vectors become a sentence's."""

    pooling: Literal["mean", "cls", "max", "lstm", "bilstm"] = setting(
        "mean",
        "a sentence's vector: of its token vectors the mean, the first (cls) or the largest of each "
        "dimension (max); or the last state of an LSTM that reads them, one way (lstm) or both (bilstm)",
        recipes={"dadas": "lstm"},
    )
    dim: int = setting(
        2048,
        "dimensions with lstm or bilstm pooling; with the others it is the base's width",
        recipes={"dadas": 2048},
        ge=1,
    )


class TransformerSettings(_Learning, _Pooled):
    """How a transformer is trained on pairs.

    Raises:
        ConfigError: a value is not allowed.
    """

    def check(self) -> None:
        if self.pooling == "bilstm" and self.dim % 2:
            raise ConfigError(
                f"transformer.dim is {self.dim}, but must be even with bilstm pooling, half for each direction"
            )


class TransformerBlock(_Learning):
    """Training of a transformer by sentence-transformers' trainer (Dadas 2022, section IV-B)."""

    threads: int = setting(2, "torch's threads; another number can change the model", inert=True, ge=1)


class TransformerEncoderBlock(_Pooled):
    """A transformer, trained by sentence-transformers."""

    kind: Literal["transformer"] = setting(
        ..., "this says that it is a transformer; any other kind is written without it, such as `encoder: word`"
    )
    base: Text = setting(
        ...,
        "what training begins with: a folder of a transformer or of a sentence-transformers model, "
        "`package://<installed package>/<folder>`, or a name on the Hugging Face Hub that has been "
        "downloaded",
    )


#: Settings that a variant of a transformer may have of its own.
TUNABLE = tuple(key for key, field in TransformerSettings.declared().items() if not about(field, "inert"))
