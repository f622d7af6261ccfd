"""The settings of a transformer's training, declared once."""

from __future__ import annotations

from dataclasses import dataclass

from psp.core.settings import Section, choice, integer, text
from psp.models import TRANSFORMER
from psp.training import settings_base as field
from psp.training.settings_base import CheckedSettings

#: Poolings of sentence-transformers, and psp's own.
LIBRARY_POOLINGS, LSTM_POOLINGS = ("mean", "cls", "max"), ("lstm", "bilstm")


@dataclass(frozen=True)
class TransformerSettings(CheckedSettings):
    """How a transformer is trained on pairs; each declaration has its help.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "transformer"

    pooling: str = field.choice(
        "mean",
        (*LIBRARY_POOLINGS, *LSTM_POOLINGS),
        recipes={"dadas": "lstm"},
        help="a sentence's vector: of its token vectors the mean, the first (cls) or the largest of each dimension "
        "(max); or the last state of an LSTM that reads them, one way (lstm) or both (bilstm)",
    )
    dim: int = field.integer(
        2048,
        at_least=1,
        recipes={"dadas": 2048},
        help="dimensions with lstm or bilstm pooling; with the others it is the base's width",
    )
    batch_size: int = field.integer(
        64,
        at_least=2,
        recipes={"dadas": 64},
        help="pairs per mini-batch, over all processes; no text occurs twice in a mini-batch",
    )
    epochs: int = field.integer(1, at_least=1, recipes={"dadas": 3}, help="passes over the pairs")
    learning_rate: float = field.number(
        2e-5,
        above=0,
        recipes={"dadas": 2e-5},
        unstated=["dadas"],  # lost in the paper's text: the library's default
        help="AdamW's peak learning rate; it then falls to 0 linearly",
    )
    warmup: float = field.number(
        0.1, at_least=0, below=1, recipes={"dadas": 0.1}, help="share of training in which the rate rises from 0"
    )
    scale: float = field.number(
        20,
        above=0,
        recipes={"dadas": 20},
        unstated=["dadas"],
        help="cosines are multiplied by this before the softmax",
    )
    directions: str = field.choice(
        "both",
        ["both", "source"],
        recipes={"dadas": "source"},
        help="source: rank the targets for each source; both: also the sources for each target, and average the "
        "two losses",
    )
    max_length: int = field.integer(
        64,
        at_least=4,
        recipes={"dadas": 512},
        unstated=["dadas"],  # not set, so the base's
        help="tokens of a text that are read, up to the base's own limit; the rest is cut",
    )
    cached: int | None = field.integer(
        None,
        at_least=1,
        null=True,
        help="texts that go through the transformer at a time, for mini-batches that do not fit into memory (the "
        "library's CachedMultipleNegativesRankingLoss); null: a whole mini-batch",
    )
    precision: str = field.choice(
        "float32",
        ["float32", "bfloat16", "auto"],
        recipes={"dadas": "auto"},  # mixed precision; the paper's is float16, on a GPU
        help="bfloat16: compute products in it, while weights stay float32; auto: on hardware with bfloat16 "
        "instructions, where it is faster",
    )
    device: str = field.text(
        "auto",
        pattern="^(auto|cpu|cuda)$",
        noun="auto, cpu or cuda",
        inert=True,
        help="auto uses a GPU if there is one",
    )
    log_every: int = field.integer(50, at_least=1, inert=True, help="mini-batches per row of metrics.csv")
    checkpoint_steps: int | None = field.integer(
        500,
        at_least=1,
        null=True,
        inert=True,
        help="mini-batches between two checkpoints, from which a killed training run resumes; null for none",
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.pooling == "bilstm" and self.dim % 2:
            raise self._wrong("dim", "an even number with bilstm pooling, half for each direction")


#: Settings that a config has under ``encoder``, besides the base, since they define the model.
OF_ENCODER = ("pooling", "dim")
#: Settings of the job.
JOB = {
    "threads": integer(2, at_least=1, inert=True, help="torch's threads; another number can change the model"),
}
#: The block in a config.
SECTION = Section(
    "training of a transformer by sentence-transformers' trainer (Dadas 2022, section IV-B)",
    {key: one for key, one in TransformerSettings.declared().items() if key not in OF_ENCODER} | JOB,
)

#: The mapping ``encoder`` in the entry of a transformer.
ENCODER = Section(
    "a transformer, trained by sentence-transformers",
    {
        "kind": choice(
            options=[TRANSFORMER],
            help="this says that it is a transformer; any other kind is written without it, such as `encoder: word`",
        ),
        "base": text(
            at_least=1,
            help="what training begins with: a folder of a transformer or of a sentence-transformers model, "
            "`package://<installed package>/<folder>`, or a name on the Hugging Face Hub that has been downloaded",
        ),
        **{key: TransformerSettings.declared()[key] for key in OF_ENCODER},
    },
    required=["kind", "base"],
)
#: Settings that a variant of a transformer may have of its own.
TUNABLE = {key: setting for key, setting in TransformerSettings.declared().items() if not setting.inert}
