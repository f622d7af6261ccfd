"""The settings of a translator's training, declared once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from psp.core.settings import NAME, Section, Setting, integer, number, table, text
from psp.pairs.translator_heldout import REST
from psp.training import settings_base as field
from psp.training.settings_base import CheckedSettings

CONFIG, WEIGHTS, SENTENCEPIECE, CTRANSLATE2 = "config.json", "model.safetensors", "sentencepiece.model", "ctranslate2"
#: The files of a translator's folder.
FILES = (
    CONFIG, WEIGHTS, SENTENCEPIECE,
    *(f"{CTRANSLATE2}/{name}" for name in ("config.json", "model.bin", "shared_vocabulary.json")),
)  # fmt: skip


@dataclass(frozen=True)
class TranslatorSettings(CheckedSettings):
    """How a translator is trained; each declaration has its help.

    The defaults of sizes and batches are for two cores and an hour: there, many small steps learn more than a few
    large ones.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "translator"

    encoder_layers: int = field.integer(2, at_least=1, help="layers of the encoder")
    decoder_layers: int = field.integer(2, at_least=1, help="layers of the decoder")
    dim: int = field.integer(256, at_least=4, help="width of the vectors; a multiple of twice `heads`")
    heads: int = field.integer(4, at_least=1, help="attention heads")
    feed_forward: int = field.integer(1024, at_least=1, help="width inside the feed-forward sublayers")
    share_vectors: bool = field.boolean(
        True, help="one embedding matrix for source, target and output; false: one for each"
    )
    dropout: float = field.number(0.1, at_least=0, below=1, help="share of values dropped in training")
    label_smoothing: float = field.number(
        0.1, at_least=0, below=1, help="share of a target's probability that is spread evenly over all pieces"
    )
    precision: str = field.choice(
        "auto",
        ["auto", "bfloat16", "float32"],
        help="bfloat16: compute products in it, while weights stay float32; auto: on hardware with bfloat16 "
        "instructions (avx512_bf16 or amx_bf16 in /proc/cpuinfo), without which it takes 17 times as long as float32",
    )
    max_tokens: int = field.integer(
        128,
        at_least=4,
        at_most=1000,
        help="subwords of a sentence that are read, in training and for scores; longer ones are cut and counted",
    )
    errors: float = field.number(
        0.0,
        at_least=0,
        at_most=1,
        help="share of the training pairs whose source gets errors of case, spelling and spacing; for a language "
        "into itself, the source is the target with errors, so that a canonicaliser learns to remove them",
    )
    batch_tokens: int = field.integer(
        1024,
        at_least=16,
        help="subwords per batch, padding included, on the longer side; sentences of equal length are batched together",
    )
    accumulate: int = field.integer(1, at_least=1, help="batches whose gradients are added up for one step")
    epochs: int | None = field.integer(10, at_least=1, null=True, help="passes over the pairs; null for no limit")
    steps: int | None = field.integer(None, at_least=1, null=True, help="maximum number of steps; null for no limit")
    minutes: float | None = field.number(
        None,
        above=0,
        null=True,
        help="minutes after which training ends, at any step; the report says at which, but another run ends at "
        "another step. Null for no limit",
    )
    learning_rate: float = field.number(2e-3, above=0, help="Adam's peak learning rate")
    schedule: str = field.choice(
        "inverse_sqrt",
        ["inverse_sqrt", "linear"],
        help="how the learning rate falls after its peak: with the square root of the steps, or linearly to 0 at "
        "the end set by `steps` or `epochs`",
    )
    warmup: int = field.integer(500, at_least=0, help="steps during which the learning rate rises from 0")
    clip: float | None = field.number(1.0, above=0, null=True, help="largest norm of a gradient; null for no limit")
    average: float = field.number(
        0.999,
        at_least=0,
        below=1,
        help="the weights that are scored and kept are a moving average of the training weights, with this share "
        "of the old average at each step; 0 for no averaging",
    )
    evaluate_every: int = field.integer(
        500, at_least=1, help="steps between two BLEU scores on the development pairs; the best weights are kept"
    )
    patience: int | None = field.integer(
        None, at_least=1, null=True, help="end after this many scores without a new best; null for never"
    )
    beam: int = field.integer(5, at_least=1, help="hypotheses kept at a time when the held-out pairs are translated")
    device: str = field.text(
        "auto",
        pattern="^(auto|cpu|cuda)$",
        noun="auto, cpu or cuda",
        inert=True,
        help="auto uses a GPU if there is one",
    )
    log_every: int = field.integer(50, at_least=1, inert=True, help="steps per row of metrics.csv")
    checkpoint_minutes: float | None = field.number(
        5, above=0, null=True, inert=True, help="minutes between two checkpoints; null for none by time"
    )
    checkpoint_steps: int | None = field.integer(
        None, at_least=1, null=True, inert=True, help="steps between two checkpoints; null for none by steps"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.dim % (2 * self.heads):
            raise self._wrong("dim", f"a multiple of {2 * self.heads}, twice the heads")
        if self.epochs is None and self.steps is None and self.minutes is None:
            raise self._wrong("epochs", "a number, since neither steps nor minutes limits training")
        if self.schedule == "linear" and self.epochs is None and self.steps is None:
            raise self._wrong("schedule", "inverse_sqrt without steps or epochs, since its end is not known")

    def learned(self) -> dict[str, Any]:
        """The settings that change what is learned: not those that change only a run's end or its scores."""
        return {key: value for key, value in super().learned().items() if key not in ("minutes", "beam")}


#: Settings of the job, which change only rounding and how often metrics are written.
JOB = tuple(key for key, setting in TranslatorSettings.declared().items() if setting.inert)
#: Settings of what comes before training, and of the job.
BEFORE: dict[str, Setting] = {
    "vocab_size": integer(8000, at_least=16, at_most=65536, help="subwords of the sentencepiece model, for both sides"),
    "character_coverage": number(
        0.9999, above=0, at_most=1, help="share of the text's characters that have a subword; others are never written"
    ),
    "sentencepiece": text(
        None,
        null=True,
        help="a sentencepiece model to use instead of training one, such as results/fr/sentencepiece.model; it must "
        "have been trained on cased text",
    ),
    "development": integer(
        500,
        at_least=1,
        help="held-out pairs, of all corpora, that choose the weights; at most a hundredth of the pairs",
    ),
    "heldout": table(
        {REST: 2000},
        values={"type": "integer", "minimum": 0},
        names=NAME,
        help="pairs held out for the reported scores, by corpus, such as {TatoebaAnki: 2000, rest: 2000}: `rest` "
        "stands for all corpora that are not named; at most a tenth of a corpus's pairs",
    ),
    "threads": integer(2, at_least=1, help="torch's threads on the CPU; another number can change the translator"),
}
#: The block in a config: `train` of an entry of `translators`.
SECTION = Section(
    "`train` of an entry of `translators`: how a small transformer is trained over subwords of its own",
    BEFORE | TranslatorSettings.declared(),
)
