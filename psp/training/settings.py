"""The training settings: one declaration of each key of the config's block ``train``."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from psp.core.errors import ConfigError, closest
from psp.core.settings import Section, Setting, boolean, choice, integer, list_of, number, text
from psp.training import objectives


def _field(setting: Setting) -> Any:
    """A field of a dataclass with its declaration."""
    default = tuple(setting.default) if isinstance(setting.default, list) else setting.default
    return dataclasses.field(default=default, metadata={"setting": setting})


class _Checked:
    """Settings of the config's block ``BLOCK``; wrong values are reported as for the config."""

    BLOCK: ClassVar[str]

    @classmethod
    def declared(cls) -> dict[str, Setting]:
        """The declaration of each setting, by its name."""
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # those who inherit are dataclasses
        return {field.name: field.metadata["setting"] for field in fields}

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Settings from a block of a config; keys left out keep their defaults.

        Raises:
            ConfigError: an unknown key, or a value that is not allowed.
        """
        known = cls.declared()
        if unknown := [key for key in mapping if key not in known]:
            raise ConfigError(
                f"{cls.BLOCK}.{unknown[0]}: no such key{closest(unknown[0], known)}; allowed are {', '.join(known)}"
            )
        return cls(**mapping)

    def __post_init__(self) -> None:
        for key, setting in self.declared().items():
            value = getattr(self, key)
            if not setting.allows(value):
                raise self._wrong(key, setting.allowed)
            if "number" in setting.values().get("type", ()) and value is not None:
                object.__setattr__(self, key, float(value))  # 1 and 1.0 in a config are the same setting

    def _wrong(self, key: str, allowed: str) -> ConfigError:
        return ConfigError(
            f"{self.BLOCK}.{key}: {getattr(self, key)!r} is not allowed; allowed is {allowed}. "
            f"Write `{key}: {json.dumps(self.declared()[key].default)}`"
        )


@dataclass(frozen=True)
class TrainSettings(_Checked):
    """Training settings; the defaults are psp's own recipe; :data:`PAPER` and :data:`PARANMT` have
    the values of two papers.

    Each declaration has its help. ``seed`` is a top-level key of the config; all others are keys of the block
    ``train``. ``init_spelling`` is explained in :mod:`psp.training.spelling`.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "train"

    epochs: int = _field(
        integer(
            6,
            at_least=1,
            recipes={"paper": 25, "code": 25, "paranmt": 5},
            tunable=True,
            help="passes over the pairs",
        )
    )
    batch_size: int = _field(
        integer(
            512,
            at_least=2,
            recipes={"paper": 128, "code": 128, "paranmt": 100},
            tunable=True,
            help="pairs per mini-batch",
        )
    )
    megabatch: int = _field(
        integer(
            60,
            at_least=1,
            recipes={"paranmt": 40},
            unstated=["paranmt"],  # for its final models: the code's default, and in the names of the released files
            tunable=True,
            help="maximum mega-batch size, in mini-batches; negatives are mined from it",
        )
    )
    anneal: int = _field(
        integer(
            150,
            at_least=0,
            recipes={"paranmt": 0},
            tunable=True,
            help="the mega-batch grows by one mini-batch every this many; with 0 it has its full size from the first "
            "step",
        )
    )
    objective: str = _field(
        choice(
            "infonce",
            objectives.names,
            recipes={"paper": "margin", "code": "margin", "paranmt": "margin"},
            tunable=True,
            help="; ".join(f"{objective.name}: {objective.help}" for objective in objectives.registered()),
        )
    )
    candidates: str = _field(
        choice(
            "batch",
            ["batch", "mined"],
            tunable=True,
            help="InfoNCE's negatives: `batch` takes the other pairs of the mini-batch; `mined` adds the negatives "
            "mined from the mega-batch",
        )
    )
    margin: float = _field(
        number(
            0.3,
            at_least=0,
            at_most=2,
            recipes={"paper": 0.4, "code": 0.4, "paranmt": 0.4},
            tunable=True,
            help="the loss's margin delta; infonce subtracts it from the cosine of the positive pair",
        )
    )
    scale: float = _field(
        number(20, above=0, tunable=True, help="InfoNCE's scale: cosines are multiplied by it before the softmax")
    )
    matryoshka: tuple[int, ...] = _field(
        list_of(
            [],
            items={"type": "integer", "minimum": 1},
            distinct=True,
            tunable=True,
            help="shorter vector lengths to which the loss also applies, so that vectors can be truncated to them",
        )
    )
    directions: str = _field(
        choice(
            "both",
            ["both", "source"],
            recipes={"paper": "source", "paranmt": "source"},
            tunable=True,
            help="`source` is the paper's Eq. 1; `both` adds the mirrored term, as the published code does",
        )
    )
    negatives: str = _field(
        choice(
            "auto",
            ["auto", "opposite", "same", "any", "random"],
            recipes={"code": "opposite", "paranmt": "same"},
            tunable=True,
            help="mine negatives from the side opposite to the anchor's, from the same, or from any; auto takes any "
            "for paraphrases, else opposite; random does not mine",
        )
    )
    mask_equal: bool = _field(
        boolean(
            True,
            recipes={"code": False, "paranmt": False},
            tunable=True,
            help="mask negatives whose text equals the positive or the anchor",
        )
    )
    dropout: float = _field(
        number(
            0,
            at_least=0,
            below=1,
            recipes={"paranmt": 0},
            unstated=["paranmt"],  # no regularisation is named
            tunable=True,
            help="dropout on the embeddings (the paper tries 0, 0.1 and 0.3)",
        )
    )
    token_dropout: float = _field(
        number(
            0.15,
            at_least=0,
            below=1,
            recipes={"paper": 0, "code": 0, "paranmt": 0},
            unstated=["paranmt"],  # no regularisation is named
            tunable=True,
            help="probability of dropping a token from its sentence's mean",
        )
    )
    learning_rate: float = _field(
        number(
            0.05,
            above=0,
            recipes={"paper": 0.001, "code": 0.001, "paranmt": 0.001},
            tunable=True,
            help="Adam's learning rate; with a linear schedule, the peak",
        )
    )
    schedule: str = _field(
        choice(
            "linear",
            ["constant", "linear"],
            recipes={"paper": "constant", "code": "constant", "paranmt": "constant"},
            tunable=True,
            help="learning rate schedule; linear rises from 0 during warmup, then falls to 0 at the end",
        )
    )
    warmup: float = _field(
        number(0.05, at_least=0, below=1, tunable=True, help="share of training during which a linear schedule rises")
    )
    average: int = _field(
        integer(
            0,
            at_least=0,
            tunable=True,
            help="number of weight snapshots whose mean becomes the model, the last at the end; 0 for no averaging",
        )
    )
    average_part: float = _field(
        number(
            0.2,
            above=0,
            at_most=1,
            tunable=True,
            help="final share of training over which the snapshots are evenly spaced",
        )
    )
    clip: float | None = _field(
        number(
            None,
            above=0,
            null=True,
            recipes={"paranmt": None},
            unstated=["paranmt"],
            tunable=True,
            help="clip the gradient norm to this value; null for no clipping",
        )
    )
    dim: int = _field(
        integer(1024, at_least=1, recipes={"paranmt": 300}, tunable=True, help="dimension of the embeddings")
    )
    init: str = _field(
        choice(
            "zipf",
            ["normal", "zipf"],
            recipes={"paper": "normal", "code": "normal", "paranmt": "normal"},
            unstated=["paranmt"],
            tunable=True,
            help="initial embeddings: normal is N(0, 1); zipf multiplies them by a / (a + share of tokens), so that "
            "frequent pieces start small",
        )
    )
    init_scale: float = _field(
        number(
            1,
            above=0,
            recipes={"paranmt": 0.01},
            unstated=["paranmt"],  # the code's trigrams; its words start from vectors that were trained before
            tunable=True,
            help="the initial embeddings, except those taken over from elsewhere, are multiplied by this",
        )
    )
    init_smoothing: float = _field(number(3e-4, above=0, tunable=True, help="the a of `init: zipf`"))
    init_spelling: float = _field(
        number(
            0.6,
            at_least=0,
            at_most=1,
            recipes={"paper": 0, "code": 0, "paranmt": 0},
            unstated=["paranmt"],
            tunable=True,
            help="share of the initial embeddings' variance that comes from the spelling of the pieces",
        )
    )
    seed: int = _field(integer(1, at_least=0, help="seed of all random choices, in data and training"))
    device: str = _field(
        text(
            "auto",
            pattern="^(auto|cpu|cuda(:[0-9]+)?)$",
            noun="auto, cpu, cuda or a numbered one as cuda:1",
            help="auto uses a GPU if there is one",
        )
    )
    precision: str = _field(
        choice(
            "float32",
            ["float32", "mixed"],
            help="mixed computes products in bfloat16 on a GPU and rescores mined negatives in float32; not for CPUs",
        )
    )
    dev_every: int | None = _field(
        integer(
            None,
            at_least=1,
            null=True,
            help="pairs between two validations on the development data; null for once per epoch",
        )
    )
    select: str = _field(
        choice(
            "last",
            ["best", "last"],
            recipes={"paper": "best", "code": "best", "paranmt": "best"},
            help="keep the weights with the best validation score, or the last; averaged weights (`average`) are "
            "validated at the end and count as the last",
        )
    )
    log_every: int = _field(integer(50, at_least=1, inert=True, help="mini-batches per row of metrics.csv"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(length < self.dim for length in self.matryoshka):
            raise self._wrong("matryoshka", f"a list of whole numbers from 1 to below dim, {self.dim}")
        object.__setattr__(self, "matryoshka", tuple(self.matryoshka))

    def as_dict(self) -> dict[str, Any]:
        """All settings, in the order of their definition, ready for JSON."""
        return dataclasses.asdict(self) | {"matryoshka": list(self.matryoshka)}


@dataclass(frozen=True)
class CheckpointSchedule(_Checked):
    """When checkpoints are written; this does not affect the model.

    They are written between mega-batches, at least a hundred mini-batches apart.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "train.checkpoint"

    minutes: float | None = _field(
        number(10, above=0, null=True, help="minutes between two checkpoints; null for none by time")
    )
    steps: int | None = _field(
        integer(
            None,
            at_least=1,
            null=True,
            help="mini-batches between two checkpoints, at least 100 in effect; null for none by mini-batches",
        )
    )
    keep: int = _field(integer(2, at_least=1, help="number of latest checkpoints to keep until training ends"))


@dataclass(frozen=True)
class LstmSettings(_Checked):
    """Settings of LSTM and BLSTM encoders, beside those of training (:mod:`psp.training.encoders.lstm`).

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "lstm"

    width: int | None = _field(
        integer(None, at_least=1, null=True, help="dimensions of a hidden state; null: as many as `train.dim`")
    )
    combine: str = _field(
        choice(
            "average",
            ["average", "concat"],
            recipes={"paranmt": "average"},
            help="a BLSTM's two states of a position: their average, or both, in twice the dimensions",
        )
    )
    pooling: str = _field(
        choice(
            "mean",
            ["mean", "max"],
            recipes={"paranmt": "mean"},
            help="a sentence's vector: the mean of its states, or the largest of each",
        )
    )
    scramble: float = _field(
        number(
            0.3,
            at_least=0,
            at_most=1,
            recipes={"paranmt": 0.3},
            help="probability that a training sentence's tokens are shuffled (the paper: its words, of 30% of the "
            "pairs)",
        )
    )
    learning_rate: float = _field(
        number(
            0.003,
            above=0,
            recipes={"paranmt": 0.001},
            help="Adam's learning rate for the LSTM's matrices, with the schedule of `train`; the embeddings have "
            "`train.learning_rate`",
        )
    )
    clip: float | None = _field(
        number(
            1,
            above=0,
            null=True,
            recipes={"paranmt": None},
            unstated=["paranmt"],
            help="clip the norm of the matrices' gradient to this value; null: never",
        )
    )
    precision: str = _field(
        choice(
            "float32",
            ["float32", "bfloat16"],
            help="bfloat16: the LSTM's products are computed in it, in less time where the hardware multiplies it; its "
            "matrices, the embeddings and the trained model stay float32",
        )
    )


#: The kind of several encoders that are trained together (:mod:`psp.training.encoders.joint`).
JOINT = "joint"
#: Keys of the block ``train`` that each of several encoders that are trained together has of its own.
OF_PART = ("dim", "init", "init_scale", "init_smoothing", "init_spelling")


def _of(recipe: str) -> Mapping[str, Any]:
    declared = TrainSettings.declared().items()
    return {key: setting.recipes[recipe] for key, setting in declared if recipe in setting.recipes}


#: The paper's values where our own recipe differs (its sections 3.2 and 4.1).
PAPER: Mapping[str, Any] = _of("paper")
#: Those of ParaNMT-50M (Wieting & Gimpel 2018, section 4).
PARANMT: Mapping[str, Any] = _of("paranmt")

#: Keys of the block ``train`` about the job rather than the training.
JOB: Mapping[str, Setting] = {
    "init_from": text(None, null=True, help="a model folder; training starts from its embeddings of the same pieces"),
    "init_vectors": text(
        None,
        null=True,
        untracked=True,  # the file is an input
        help="a name in `vectors`, a file of word vectors: training starts from those of the same words (models of "
        "words, and LSTMs over words)",
    ),
    "processes": integer(
        1,
        at_least=1,
        inert=True,
        help="processes that train together on CPUs; on one machine, one with more threads is faster",
    ),
    "gpus": integer(
        0, at_least=0, inert=True, help="processes with one GPU each, requested from a cluster; 0 requests none"
    ),
    "threads": integer(
        2,
        at_least=1,
        untracked=True,  # it can change the last bits of a model, which is no reason to train again
        help="threads per process, whatever the number of cores, since another number can change the model; a job "
        "requests this times its processes",
    ),
    "tune": boolean(
        False,
        untracked=True,  # tune.json is an input then
        help="use the best settings of the grid search in block `tune`, from results/<model>/tune.json",
    ),
}

#: The block ``train`` of the config.
SECTION = Section(
    "training (paper, section 3)",
    {
        **{key: setting for key, setting in TrainSettings.declared().items() if key != "seed"},
        "checkpoint": Section(
            "a stopped or killed training resumes from its last checkpoint; each takes 0.8 GB and 3 s for an embedding "
            "matrix of 50,000 x 1,024, and how often they are written does not affect the model",
            CheckpointSchedule.declared(),
            inert=True,
        ),
        **JOB,
    },
)
