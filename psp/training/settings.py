"""The training settings: one declaration of each key of the config's block ``train``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from psp.core.settings import Section, Setting, choice, integer, text
from psp.training import objectives
from psp.training import settings_base as field
from psp.training.settings_base import CheckedSettings


@dataclass(frozen=True)
class TrainSettings(CheckedSettings):
    """Training settings; the defaults are psp's own recipe; :data:`PAPER` and :data:`PARANMT` have
    the values of two papers.

    Each declaration has its help. ``seed`` is a top-level key of the config; all others are keys of the block
    ``train``. ``init_spelling`` is explained in :mod:`psp.training.spelling`.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "train"

    epochs: int = field.integer(
        6,
        at_least=1,
        recipes={"paper": 25, "code": 25, "paranmt": 5},
        help="passes over the pairs",
    )
    batch_size: int = field.integer(
        512,
        at_least=2,
        recipes={"paper": 128, "code": 128, "paranmt": 100},
        help="pairs per mini-batch",
    )
    megabatch: int = field.integer(
        60,
        at_least=1,
        recipes={"paranmt": 40},
        unstated=["paranmt"],  # for its final models: the code's default, and in the names of the released files
        help="maximum mega-batch size, in mini-batches; negatives are mined from it",
    )
    anneal: int = field.integer(
        150,
        at_least=0,
        recipes={"paranmt": 0},
        help="mini-batches after which the mega-batch grows by one mini-batch; with 0 it has its full size from "
        "the first step",
    )
    objective: str = field.choice(
        "infonce",
        objectives.OBJECTIVES.keys,
        recipes={"paper": "margin", "code": "margin", "paranmt": "margin"},
        help="; ".join(f"{objective.name}: {objective.help}" for objective in objectives.OBJECTIVES.values()),
    )
    margin: float = field.number(
        0.3,
        at_least=0,
        at_most=2,
        recipes={"paper": 0.4, "code": 0.4, "paranmt": 0.4},
        help="the loss's margin delta; infonce subtracts it from the cosine of the positive pair",
    )
    scale: float = field.number(20, above=0, help="InfoNCE's scale: cosines are multiplied by it before the softmax")
    matryoshka: tuple[int, ...] = field.list_of(
        [],
        items={"type": "integer", "minimum": 1},
        distinct=True,
        help="shorter vector lengths to which the loss also applies, so that vectors can be truncated to them",
    )
    directions: str = field.choice(
        "both",
        ["both", "source"],
        recipes={"paper": "source", "paranmt": "source"},
        help="`source` is the paper's Eq. 1; `both` adds the mirrored term, as the published code does",
    )
    negatives: str = field.choice(
        "auto",
        ["auto", "opposite", "same", "any", "random"],
        recipes={"code": "opposite", "paranmt": "same"},
        help="mine negatives from the side opposite to the anchor's, from the same, or from any; auto takes any "
        "for paraphrases, else opposite; random does not mine",
    )
    mask_equal: bool = field.boolean(
        True,
        recipes={"code": False, "paranmt": False},
        help="mask negatives whose text equals the positive or the anchor",
    )
    dropout: float = field.number(
        0,
        at_least=0,
        below=1,
        recipes={"paranmt": 0},
        unstated=["paranmt"],  # no regularisation is named
        help="dropout on the embeddings (the paper tries 0, 0.1 and 0.3)",
    )
    token_dropout: float = field.number(
        0.15,
        at_least=0,
        below=1,
        recipes={"paper": 0, "code": 0, "paranmt": 0},
        unstated=["paranmt"],  # no regularisation is named
        help="probability of dropping a token from its sentence's mean",
    )
    learning_rate: float = field.number(
        0.05,
        above=0,
        recipes={"paper": 0.001, "code": 0.001, "paranmt": 0.001},
        help="Adam's learning rate; with a linear schedule, the peak",
    )
    schedule: str = field.choice(
        "linear",
        ["constant", "linear"],
        recipes={"paper": "constant", "code": "constant", "paranmt": "constant"},
        help="learning rate schedule; linear rises from 0 during warmup, then falls to 0 at the end",
    )
    warmup: float = field.number(
        0.05, at_least=0, below=1, help="share of training during which a linear schedule rises"
    )
    clip: float | None = field.number(
        None,
        above=0,
        null=True,
        recipes={"code": 5, "paranmt": None},
        unstated=["paranmt"],
        help="clip the gradient norm to this value; null for no clipping",
    )
    dim: int = field.integer(1024, at_least=1, recipes={"paranmt": 300}, help="dimension of the embeddings")
    ignore_spaces: bool = field.boolean(
        True,
        recipes=dict.fromkeys(("paper", "code", "paranmt"), False),
        help="punctuation marks have one embedding with and without a space before them, and a lone space has "
        "none; for means of sentencepiece's pieces",
    )
    init: str = field.choice(
        "zipf",
        ["normal", "zipf"],
        recipes={"paper": "normal", "code": "normal", "paranmt": "normal"},
        unstated=["paranmt"],
        help="initial embeddings: normal is N(0, 1); zipf multiplies them by a / (a + share of tokens), so that "
        "frequent pieces start small",
    )
    init_scale: float = field.number(
        1,
        above=0,
        recipes={"paranmt": 0.01},
        unstated=["paranmt"],  # the code's trigrams; its words start from vectors that were trained before
        help="the initial embeddings, except those taken from elsewhere, are multiplied by this",
    )
    init_smoothing: float = field.number(3e-4, above=0, help="the a of `init: zipf`")
    init_spelling: float = field.number(
        0.6,
        at_least=0,
        at_most=1,
        recipes={"paper": 0, "code": 0, "paranmt": 0},
        unstated=["paranmt"],
        help="share of the initial embeddings' variance that comes from the spelling of the pieces",
    )
    init_encoder_share: float = field.number(
        0.6,
        at_least=0,
        at_most=1,
        help="with `init_encoder`: share of the initial embeddings' variance that comes from it; `init_spelling` "
        "is a share of the rest",
    )
    language_sampling: float = field.number(
        1,
        at_least=0,
        at_most=1,
        help="in a model of several language pairs, the share of each in an epoch (of unchanged length) is "
        "proportional to its number of pairs to this power: with 1 every pair occurs once, with 0 shares are equal",
    )
    seed: int = field.integer(1, at_least=0, help="seed of all random choices, in data and training")
    device: str = field.text(
        "auto",
        pattern="^(auto|cpu|cuda(:[0-9]+)?)$",
        noun="auto, cpu, cuda or a numbered one as cuda:1",
        help="auto uses a GPU if there is one",
    )
    precision: str = field.choice(
        "float32",
        ["float32", "mixed"],
        help="mixed computes products in bfloat16 on a GPU and rescores mined negatives in float32; not for CPUs",
    )
    select: str = field.choice(
        "last",
        ["best", "last"],
        recipes={"paper": "best", "code": "best", "paranmt": "best"},
        help="keep the weights with the best validation score, or the last",
    )
    log_every: int = field.integer(50, at_least=1, inert=True, help="mini-batches per row of metrics.csv")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(length < self.dim for length in self.matryoshka):
            raise self._wrong("matryoshka", f"a list of whole numbers from 1 to below dim, {self.dim}")


@dataclass(frozen=True)
class CheckpointSchedule(CheckedSettings):
    """When checkpoints are written; this does not affect the model.

    They are written between mega-batches, at least a hundred mini-batches apart.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "train.checkpoint"

    minutes: float | None = field.number(
        10, above=0, null=True, help="minutes between two checkpoints; null for no checkpoints by time"
    )
    steps: int | None = field.integer(
        None,
        at_least=1,
        null=True,
        help="mini-batches between two checkpoints, at least 100 in effect; null for none by mini-batches",
    )
    keep: int = field.integer(2, at_least=1, help="number of latest checkpoints to keep until training ends")


#: The settings that do not change what is learned, so that no search or variant may set them.
NOT_TUNABLE = ("seed", "device", "precision", "select", "log_every")
#: The kind of several encoders that are trained together (:mod:`psp.training.encoders.joint`).
JOINT = "joint"
#: Keys of the block ``train`` that each of several encoders that are trained together has of its own.
OF_PART = ("dim", "init", "init_scale", "init_smoothing", "init_spelling")


def _of(recipe: str) -> Mapping[str, Any]:
    declared = TrainSettings.declared().items()
    return {key: setting.recipes[recipe] for key, setting in declared if recipe in setting.recipes}


#: The paper's values where our own recipe differs (its sections 3.2 and 5.1).
PAPER: Mapping[str, Any] = _of("paper")
#: The settings of ParaNMT-50M (Wieting & Gimpel 2018, section 4).
PARANMT: Mapping[str, Any] = _of("paranmt")

#: Keys of the block ``train`` about the job rather than the training.
JOB: Mapping[str, Setting] = {
    "init_from": text(None, null=True, help="a model folder; training starts from its embeddings of the same pieces"),
    "init_vectors": text(
        None,
        null=True,
        untracked=True,  # the file is an input
        help="a name in `vectors` (a file of word vectors): training starts from the vectors of the same words (models "
        "of words, and LSTMs over words)",
    ),
    "init_encoder": text(
        None,
        at_least=1,
        null=True,
        recipes={"distilled": "multilingual-e5-small"},
        untracked=True,  # the file of its vectors is an input
        help="an encoder, named like a teacher (block `teacher`): training starts from its vectors of the pieces, each "
        "embedded by itself; null for none",
    ),
    "threads": integer(
        2,
        at_least=1,
        untracked=True,  # it can change the last bits of a model, which is no reason to train again
        help="threads, independent of the number of cores, since another number can change the model",
    ),
    "settings_from": choice(
        None,
        ["variants"],
        null=True,
        untracked=True,  # the points' train.json are inputs then
        help="variants: take what the grid in the model's `variants` searches from its best point, the one with the "
        "highest validation score; variants themselves never do",
    ),
}

#: The block ``train`` of the config.
SECTION = Section(
    "training (paper, section 3)",
    {
        **{
            key: replace(setting, tunable=key not in NOT_TUNABLE)
            for key, setting in TrainSettings.declared().items()
            if key != "seed"
        },
        "checkpoint": Section(
            "a stopped or killed training resumes from its last checkpoint; each takes 0.8 GB and 3 s for an embedding "
            "matrix of 50,000 x 1,024, and how often they are written does not affect the model",
            CheckpointSchedule.declared(),
            inert=True,
        ),
        **JOB,
    },
)
