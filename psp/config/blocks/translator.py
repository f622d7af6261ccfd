"""Translators: the entries of ``translators``, their training and search, and the block ``backtranslate``."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from psp.config.blocks.base import Block
from psp.config.blocks.corpora import Items
from psp.config.blocks.fields import Language, Name, Text, about, optional, setting
from psp.config.blocks.filters import FiltersBlock
from psp.core.errors import ConfigError

#: The key of `heldout` for all corpora that it does not name.
REST = "rest"
CONFIG, WEIGHTS, SENTENCEPIECE, CTRANSLATE2 = "config.json", "model.safetensors", "sentencepiece.model", "ctranslate2"
#: The files of a translator's folder.
FILES = (
    CONFIG, WEIGHTS, SENTENCEPIECE,
    *(f"{CTRANSLATE2}/{name}" for name in ("config.json", "model.bin", "shared_vocabulary.json")),
)  # fmt: skip


class TranslatorSettings(Block):
    """How a translator is trained.

    The defaults of sizes and batches are for two cores and an hour: there, many small steps learn more than a few
    large ones.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK: ClassVar[str] = "translator"

    encoder_layers: int = setting(2, "layers of the encoder", ge=1)
    decoder_layers: int = setting(2, "layers of the decoder", ge=1)
    dim: int = setting(256, "width of the vectors; a multiple of twice `heads`", ge=4)
    heads: int = setting(4, "attention heads", ge=1)
    feed_forward: int = setting(1024, "width inside the feed-forward sublayers", ge=1)
    dropout: float = setting(0.1, "share of values dropped in training", ge=0, lt=1)
    label_smoothing: float = setting(
        0.1, "share of a target's probability that is spread evenly over all pieces", ge=0, lt=1
    )
    precision: Literal["auto", "bfloat16", "float32"] = setting(
        "auto",
        "bfloat16: compute products in it, while weights stay float32; auto: on hardware with bfloat16 "
        "instructions (avx512_bf16 or amx_bf16 in /proc/cpuinfo), without which it takes 17 times as long "
        "as float32",
    )
    max_tokens: int = setting(
        128,
        "subwords of a sentence that are read, in training and for scores; longer ones are cut and counted",
        ge=4,
        le=1000,
    )
    errors: float = setting(
        0.0,
        "share of the training pairs whose source gets errors of case, spelling and spacing; for a "
        "language into itself, the source is the target with errors, so that a canonicaliser learns to "
        "remove them",
        ge=0,
        le=1,
    )
    batch_tokens: int = setting(
        1024,
        "subwords per batch, padding included, on the longer side; sentences of equal length are batched together",
        ge=16,
    )
    accumulate: int = setting(1, "batches whose gradients are added up for one step", ge=1)
    epochs: int | None = setting(10, "passes over the pairs; null for no limit", ge=1)
    steps: int | None = setting(None, "maximum number of steps; null for no limit", ge=1)
    minutes: float | None = setting(
        None,
        "minutes after which training ends, at any step; the report says at which, but another run ends at "
        "another step. Null for no limit",
        gt=0,
    )
    learning_rate: float = setting(0.002, "Adam's peak learning rate", gt=0)
    schedule: Literal["inverse_sqrt", "linear"] = setting(
        "inverse_sqrt",
        "how the learning rate falls after its peak: with the square root of the steps, or linearly to 0 "
        "at the end set by `steps` or `epochs`",
    )
    warmup: int = setting(500, "steps during which the learning rate rises from 0", ge=0)
    clip: float | None = setting(1.0, "largest norm of a gradient; null for no limit", gt=0)
    average: float = setting(
        0.999,
        "the weights that are scored and kept are a moving average of the training weights, with this "
        "share of the old average at each step; 0 for no averaging",
        ge=0,
        lt=1,
    )
    evaluate_every: int = setting(
        500, "steps between two BLEU scores on the development pairs; the best weights are kept", ge=1
    )
    patience: int | None = setting(None, "end after this many scores without a new best; null for never", ge=1)
    beam: int = setting(5, "hypotheses kept at a time when the held-out pairs are translated", ge=1)
    device: Literal["auto", "cpu", "cuda"] = setting("auto", "auto uses a GPU if there is one", inert=True)
    log_every: int = setting(50, "steps per row of metrics.csv", inert=True, ge=1)
    checkpoint_minutes: float | None = setting(
        5, "minutes between two checkpoints; null for none by time", inert=True, gt=0
    )
    checkpoint_steps: int | None = setting(
        None, "steps between two checkpoints; null for none by steps", inert=True, ge=1
    )

    def check(self) -> None:
        if self.dim % (2 * self.heads):
            raise ConfigError(
                f"translator.dim is {self.dim}, but must be a multiple of {2 * self.heads}, twice the heads"
            )
        if self.epochs is None and self.steps is None and self.minutes is None:
            raise ConfigError(
                "translator.epochs is null, but neither steps nor minutes limits training; write `epochs: 10`"
            )
        if self.schedule == "linear" and self.epochs is None and self.steps is None:
            raise ConfigError(
                "translator.schedule is linear, but without steps or epochs its end is not known; write "
                "`schedule: inverse_sqrt`"
            )

    def learned(self) -> dict[str, Any]:
        """The settings that change what is learned: not those that change only a run's end or its scores."""
        return {key: value for key, value in super().learned().items() if key not in ("minutes", "beam")}


class TranslatorTrainBlock(TranslatorSettings):
    """`train` of an entry of `translators`: how a small transformer is trained over subwords of its own."""

    vocab_size: int = setting(8000, "subwords of the sentencepiece model, for both sides", ge=16, le=65536)
    character_coverage: float = setting(
        0.9999, "share of the text's characters that have a subword; others are never written", gt=0, le=1
    )
    sentencepiece: str | None = setting(
        None,
        "a sentencepiece model to use instead of training one, such as results/fr/sentencepiece.model; it "
        "must have been trained on cased text",
    )
    development: int = setting(
        500, "held-out pairs, of all corpora, that choose the weights; at most a hundredth of the pairs", ge=1
    )
    heldout: dict[Name, Annotated[int, Field(ge=0)]] = setting(
        {REST: 2000},
        "pairs held out for the reported scores, by corpus, such as {TatoebaAnki: 2000, rest: 2000}: "
        "`rest` stands for all corpora that are not named; at most a tenth of a corpus's pairs",
    )
    threads: int = setting(2, "torch's threads on the CPU; another number can change the translator", ge=1)


#: Settings of the job, which change only rounding and how often metrics are written.
JOB = tuple(key for key, field in TranslatorSettings.declared().items() if about(field, "inert"))
#: Settings of what comes before training, and of the job.
BEFORE = tuple(key for key in TranslatorTrainBlock.declared() if key not in TranslatorSettings.declared())


class FromBlock(Block):
    """Instead of corpora: a model whose bitext in these languages is all used, with its filters."""

    model: str = setting(..., "its name")


class SearchBlock(Block):
    """How the translator searches."""

    beam: int = setting(5, "hypotheses kept at each step; ParaNMT-50M's is 12", ge=1)
    length_penalty: float = setting(
        1.0,
        "hypotheses are compared by log-probability divided by length to this power; 1: by the mean over subwords",
        ge=0,
    )
    sampling: int = setting(
        0, "0: beam search; k: each subword is drawn among the k most likely, and `beam` must be 1", ge=0
    )
    seed: int = setting(1, "seed of sampling", ge=1)
    temperature: float = setting(1.0, "sampling temperature: below 1, likely subwords become likelier", gt=0)
    max_tokens: int = setting(256, "longer sources are truncated to this many subwords, and counted", ge=1)
    batch_tokens: int = setting(4096, "subwords translated at a time; affects memory and speed", ge=1)
    compute_type: Literal["int8", "int8_float32", "int16", "float32", "float16", "bfloat16"] = setting(
        "int8", "type of the weights in memory, as CTranslate2 names it"
    )
    device: Literal["cpu", "cuda"] = setting("cpu", "the device to run on")
    source_prefix: list[Text] = setting([], 'subwords before each source, such as [">>fra<<"] for a multilingual model')
    target_prefix: list[Text] = setting(
        [], "subwords with which each translation begins, such as [fra_Latn]; removed from it"
    )


class _Ctranslate2(Block):
    """Where an existing translator lies."""

    ctranslate2: Text = optional("a folder with a CTranslate2 model, from any of its converters")
    sentencepiece: str | None = setting(
        None, "its sentencepiece model; null: `source.spm` and `target.spm`, or `sentencepiece.model`, in the folder"
    )
    target_sentencepiece: str | None = setting(None, "sentencepiece model of the translations, if they have another")


class Ctranslate2Block(SearchBlock, _Ctranslate2):
    """A translator in CTranslate2's format."""

    def check(self) -> None:
        if self.sampling and self.beam != 1:
            raise ConfigError("sampling draws one hypothesis at a time; set `beam: 1`")


class CommandBlock(Block):
    """A translator that is a command."""

    command: Text = optional("a shell command that reads sentences, one per line, and writes a translation of each")
    scores: Literal["none", "column"] = setting(
        "none", "column: it writes `translation \\t score`, the log-probability divided by the number of subwords"
    )
    timeout: float = setting(
        3600, "seconds without output after which it is ended; it gets 10,000 lines at a time", inert=True, gt=0
    )


class TranslatorBlock(_Ctranslate2, CommandBlock):
    """A translator: one to train, with its files under results/translators/<name>, or an existing one."""

    languages: list[Language] = optional(
        "source and target; the same twice for paraphrases", min_length=2, max_length=2
    )
    corpora: Items = optional(
        "the bitext to train on: names from the catalogue or paths, as in a model's `corpora`", min_length=1
    )
    from_: FromBlock = optional(
        "instead of corpora: a model whose bitext in these languages is all used, with its filters", alias="from"
    )
    filters: FiltersBlock = optional("settings that override those of the corpora")
    seed: int = optional("seed of all random choices, in data and training", ge=0)
    train: TranslatorTrainBlock = optional("how it is trained")
    licence: str | None = optional(
        "SPDX id of the licence of an existing translator's output; null if none is declared"
    )
    search: SearchBlock = optional("how the translator searches")


class BacktranslateBlock(Block):
    """Bitext turned into paraphrases: one side of it with a translation of the other (ParaNMT-50M, section 3)."""

    encoder: Text | None = setting(
        None,
        "gives each pair its score, the cosine of its sides: as for the filter `similarity`; null: the "
        "model that `from` names, if it names one",
    )
    sample: int | None = setting(None, "lines of the bitext to translate, chosen at random; null: all", ge=1)
    threads: int = setting(2, "threads of the translator; a command chooses its own", inert=True, ge=1)


#: The keys that say which kind of translator an entry is.
KINDS = ("ctranslate2", "command")


def kind_of(entry: Mapping[str, Any], where: str) -> str:
    """The kind of an entry's translator.

    Raises:
        ConfigError: none, or several.
    """
    named = [kind for kind in KINDS if kind in entry]
    if len(named) != 1:
        problem = "names no translator" if not named else f"has {' and '.join(named)}"
        raise ConfigError(f"{where}: {problem}; write one of {', '.join(f'`{kind}: ...`' for kind in KINDS)}")
    return named[0]
