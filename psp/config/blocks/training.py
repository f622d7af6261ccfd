"""Training of embedding matrices and LSTMs."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Device, Distinct, Text, matching, setting, within
from psp.core.errors import ConfigError

#: By objective, the keys that it reads besides those that training reads for each; with "negatives", they are mined.
OBJECTIVES: Mapping[str, frozenset[str]] = {
    "infonce": frozenset({"margin", "scale", "mask_equal"}),
    "margin": frozenset({"margin", "directions", "megabatch", "anneal", "negatives", "mask_equal"}),
}


class CheckpointSchedule(Block):
    """A stopped or killed training resumes from its last checkpoint; each takes 0.8 GB and 3 s for an embedding matrix
    of 50,000 x 1,024, and how often they are written does not affect the model.

    They are written between mega-batches, at least a hundred mini-batches apart.
    """

    BLOCK: ClassVar[str] = "train.checkpoint"
    INERT: ClassVar[bool] = True

    minutes: float | None = setting(10, "minutes between two checkpoints; null for no checkpoints by time", gt=0)
    steps: int | None = setting(
        None, "mini-batches between two checkpoints, at least 100 in effect; null for none by mini-batches", ge=1
    )
    keep: int = setting(2, "number of latest checkpoints to keep until training ends", ge=1)


class _Learning(Block):
    """What the embeddings are learned by; see :class:`TrainSettings`."""

    BLOCK: ClassVar[str] = "train"

    epochs: int = setting(6, "passes over the pairs", recipes={"paper": 25, "code": 25, "paranmt": 5}, ge=1)
    batch_size: int = setting(512, "pairs per mini-batch", recipes={"paper": 128, "code": 128, "paranmt": 100}, ge=2)
    megabatch: int = setting(
        60,
        "maximum mega-batch size, in mini-batches; negatives are mined from it",
        recipes={"paranmt": 40},
        unstated=["paranmt"],  # for its final models: the code's default, and in the names of the released files
        ge=1,
    )
    anneal: int = setting(
        150,
        "mini-batches after which the mega-batch grows by one mini-batch; with 0 it has its full size from "
        "the first step",
        recipes={"paranmt": 0},
        ge=0,
    )
    objective: Annotated[
        str, matching(r"infonce|margin|[A-Za-z_][\w.]*:[A-Za-z_][\w.]*", "infonce, margin or module:Class")
    ] = setting(
        "infonce",
        "infonce: a softmax over the pairs of the mini-batch; margin: the paper's loss with one mined negative; or "
        "your own class, such as `my_module:MyLoss` for MyLoss in my_module.py in the working directory",
        recipes={"paper": "margin", "code": "margin", "paranmt": "margin"},
    )
    loss: dict[str, Any] = setting({}, "settings of your own class, as its `Settings` declares them")
    margin: float = setting(
        0.3,
        "the loss's margin delta; infonce subtracts it from the cosine of the positive pair",
        recipes={"paper": 0.4, "code": 0.4, "paranmt": 0.4},
        ge=0,
        le=2,
    )
    scale: float = setting(20, "InfoNCE's scale: cosines are multiplied by it before the softmax", gt=0)
    matryoshka: Annotated[list[Annotated[int, Field(ge=1)]], Distinct] = setting(
        [], "shorter vector lengths to which the loss also applies, so that vectors can be truncated to them"
    )
    directions: Literal["both", "source"] = setting(
        "both",
        "`source` is the paper's Eq. 1; `both` adds the mirrored term, as the published code does",
        recipes={"paper": "source", "paranmt": "source"},
    )
    negatives: Literal["auto", "opposite", "same", "any", "random"] = setting(
        "auto",
        "mine negatives from the side opposite to the anchor's, from the same, or from any; auto takes any "
        "for paraphrases, else opposite; random does not mine",
        recipes={"code": "opposite", "paranmt": "same"},
    )
    mask_equal: bool = setting(
        True, "mask negatives whose text equals the positive or the anchor", recipes={"code": False, "paranmt": False}
    )
    dropout: float = setting(
        0,
        "dropout on the embeddings (the paper tries 0, 0.1 and 0.3)",
        recipes={"paranmt": 0},
        unstated=["paranmt"],  # no regularisation is named
        ge=0,
        lt=1,
    )
    token_dropout: float = setting(
        0.05,
        "probability of dropping a token from its sentence's mean",
        recipes={"paper": 0, "code": 0, "paranmt": 0},
        unstated=["paranmt"],  # no regularisation is named
        ge=0,
        lt=1,
    )
    learning_rate: float = setting(
        0.05,
        "Adam's learning rate; with a linear schedule, the peak",
        recipes={"paper": 0.001, "code": 0.001, "paranmt": 0.001},
        gt=0,
    )
    schedule: Literal["constant", "linear"] = setting(
        "linear",
        "learning rate schedule; linear rises from 0 during warmup, then falls to 0 at the end",
        recipes={"paper": "constant", "code": "constant", "paranmt": "constant"},
    )
    warmup: float = setting(0.05, "share of training during which a linear schedule rises", ge=0, lt=1)
    clip: float | None = setting(
        None,
        "clip the gradient norm to this value; null for no clipping",
        recipes={"code": 5, "paranmt": None},
        unstated=["paranmt"],
        gt=0,
    )
    dim: int = setting(1024, "dimension of the embeddings", recipes={"paranmt": 300}, ge=1)
    ignore_spaces: bool = setting(
        True,
        "punctuation marks have one embedding with and without a space before them, and a lone space has "
        "none; for means of sentencepiece's pieces",
        recipes={"paper": False, "code": False, "paranmt": False},
    )
    init: Literal["normal", "zipf"] = setting(
        "zipf",
        "initial embeddings: normal is N(0, 1); zipf multiplies them by a / (a + share of tokens), so that "
        "frequent pieces start small",
        recipes={"paper": "normal", "code": "normal", "paranmt": "normal"},
        unstated=["paranmt"],
    )
    init_scale: float = setting(
        1,
        "the initial embeddings, except those taken from elsewhere, are multiplied by this",
        recipes={"paranmt": 0.01},
        unstated=["paranmt"],  # the code's trigrams; its words start from vectors that were trained before
        gt=0,
    )
    init_smoothing: float = setting(0.001, "the a of `init: zipf`", gt=0)
    init_spelling: float = setting(
        0.9,
        "share of the initial embeddings' variance that comes from the spelling of the pieces",
        recipes={"paper": 0, "code": 0, "paranmt": 0},
        unstated=["paranmt"],
        ge=0,
        le=1,
    )
    init_encoder_share: float = setting(
        0.6,
        "with `init_encoder`: share of the initial embeddings' variance that comes from it; "
        "`init_spelling` is a share of the rest",
        ge=0,
        le=1,
    )
    language_sampling: float = setting(
        1,
        "in a model of several language pairs, the share of each in an epoch (of unchanged length) is "
        "proportional to its number of pairs to this power: with 1 every pair occurs once, with 0 shares "
        "are equal",
        ge=0,
        le=1,
    )
    device: Device = setting("auto", "auto uses a GPU if there is one")
    precision: Literal["float32", "mixed"] = setting(
        "float32", "mixed computes products in bfloat16 on a GPU and rescores mined negatives in float32; not for CPUs"
    )
    select: Literal["best", "last"] = setting(
        "last",
        "keep the weights with the best validation score, or the last",
        recipes={"paper": "best", "code": "best", "paranmt": "best"},
    )
    log_every: int = setting(50, "mini-batches per row of metrics.csv", inert=True, ge=1)

    def check(self) -> None:
        if not all(length < self.dim for length in self.matryoshka):
            raise ConfigError(f"train.matryoshka is {self.matryoshka}, but must be below dim, {self.dim}")


class TrainSettings(_Learning):
    """Training settings; the defaults are psp's own recipe; :data:`PAPER` and :data:`PARANMT` have two papers' values.

    Raises:
        ConfigError: a value is not allowed.
    """

    seed: int = setting(1, "seed of all random choices, in data and training", ge=0)


class TrainBlock(_Learning):
    """Training (paper, section 3)."""

    checkpoint: CheckpointSchedule = within(CheckpointSchedule)
    init_from: str | None = setting(None, "a model folder; training starts from its embeddings of the same pieces")
    init_vectors: str | None = setting(
        None,
        "a name in `vectors` (a file of word vectors): training starts from the vectors of the same words "
        "(models of words, and LSTMs over words)",
        untracked=True,  # the file is an input
    )
    init_encoder: Text | None = setting(
        None,
        "an encoder, named like a teacher (block `teacher`): training starts from its vectors of the "
        "pieces, each embedded by itself; null for none",
        recipes={"distilled": "multilingual-e5-small"},
        untracked=True,  # the file of its vectors is an input
    )
    threads: int = setting(
        2,
        "threads, independent of the number of cores, since another number can change the model",
        untracked=True,  # it can change the last bits of a model, which is no reason to train again
        ge=1,
    )
    settings_from: Literal["variants"] | None = setting(
        None,
        "variants: take what the grid in the model's `variants` searches from its best point, the one with "
        "the highest validation score; variants themselves never do",
        untracked=True,  # the points' train.json are inputs then
    )


class LstmSettings(Block):
    """Settings of LSTM and BLSTM encoders, in addition to those of training.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK: ClassVar[str] = "lstm"

    width: int | None = setting(None, "dimensions of a hidden state; null: as many as `train.dim`", ge=1)
    combine: Literal["average", "concat"] = setting(
        "average",
        "how a BLSTM's two states of a position are joined: averaged, or concatenated to twice the dimensions",
        recipes={"paranmt": "average"},
    )
    pooling: Literal["mean", "max"] = setting(
        "mean",
        "a sentence's vector: the mean of its states, or their maximum in each dimension",
        recipes={"paranmt": "mean"},
    )
    scramble: float = setting(
        0.3,
        "probability that a training sentence's tokens are shuffled (the paper: its words, of 30% of the pairs)",
        recipes={"paranmt": 0.3},
        ge=0,
        le=1,
    )
    learning_rate: float = setting(
        0.003,
        "Adam's learning rate for the LSTM's matrices, with the schedule of `train`; the embeddings have "
        "`train.learning_rate`",
        recipes={"paranmt": 0.001},
        gt=0,
    )
    clip: float | None = setting(
        1,
        "clip the norm of the matrices' gradient to this value; null: never",
        recipes={"paranmt": None},
        unstated=["paranmt"],
        gt=0,
    )
    precision: Literal["float32", "bfloat16", "auto"] = setting(
        "float32",
        "bfloat16: compute the LSTM's products in it, while its matrices, the embeddings and the trained "
        "model stay float32; auto: on hardware with bfloat16 instructions, where it is faster",
    )


class LstmBlock(LstmSettings):
    """Encoders `lstm` and `blstm`; the embeddings that they read have the blocks of their kind, and `train.dim`."""

    over: Literal["subword", "word"] = setting("word", "what an LSTM reads: words or subwords")


#: The settings that do not change what is learned, so that no search or variant may set them.
NOT_TUNABLE = ("seed", "device", "precision", "select", "log_every")
#: Those that do.
TUNABLE = tuple(key for key in _Learning.declared() if key not in NOT_TUNABLE)
#: The encoders with settings of the block ``lstm``.
LSTMS = ("lstm", "blstm")
#: The kind of several encoders that are trained together (:mod:`psp.training.encoders.joint`).
JOINT = "joint"
#: Keys of the block ``train`` that each of several encoders that are trained together has of its own.
OF_PART = ("dim", "init", "init_scale", "init_smoothing", "init_spelling")


def _of(recipe: str) -> Mapping[str, Any]:
    return {
        key: TrainSettings.default(key, recipe) for key in TrainSettings.declared() if TrainSettings.has(key, recipe)
    }


#: The paper's values where our own recipe differs (its sections 3.2 and 5.1).
PAPER: Mapping[str, Any] = _of("paper")
#: The settings of ParaNMT-50M (Wieting & Gimpel 2018, section 4).
PARANMT: Mapping[str, Any] = _of("paranmt")
