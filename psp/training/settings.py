"""What can be set about training: one declaration of each key of the config's block ``train``."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from psp.core.errors import ConfigError
from psp.core.settings import Section, Setting, choice, flag, listing, number, text, whole
from psp.training.losses import objective


def _field(setting: Setting) -> Any:
    """A field of a dataclass with its declaration."""
    default = tuple(setting.default) if isinstance(setting.default, list) else setting.default
    return dataclasses.field(default=default, metadata={"setting": setting})


class _Checked:
    """Settings of a block of the config, ``BLOCK``, whose wrong values are told as the config's are."""

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
            raise ConfigError(f"{cls.BLOCK}.{unknown[0]}: no such key; allowed are {', '.join(known)}")
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
    """Training by psp's own recipe, unless told otherwise; :data:`PAPER` has what the paper does otherwise.

    The help of each setting is in its declaration. ``seed`` is a key of the whole config; all others are keys of the
    block ``train``. ``init_spelling`` is explained in :mod:`psp.training.spelling`.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "train"

    epochs: int = _field(
        whole(6, at_least=1, recipes={"paper": 25, "code": 25}, tunable=True, help="passes over the pairs")
    )
    batch_size: int = _field(
        whole(512, at_least=2, recipes={"paper": 128, "code": 128}, tunable=True, help="pairs of a mini-batch")
    )
    megabatch: int = _field(
        whole(
            60, at_least=1, tunable=True, help="mini-batches, at most, of the mega-batch that negatives are mined from"
        )
    )
    anneal: int = _field(
        whole(150, at_least=1, tunable=True, help="the mega-batch grows by one mini-batch every this many")
    )
    objective: str = _field(
        choice(
            "infonce",
            objective.names,
            recipes={"paper": "margin", "code": "margin"},
            tunable=True,
            help="margin: the paper's loss with one mined negative; infonce: a softmax over `candidates`",
        )
    )
    candidates: str = _field(
        choice(
            "batch",
            ["batch", "mined"],
            tunable=True,
            help="of infonce: the mini-batch's pairs alone; mined adds each one's negative mined from the mega-batch",
        )
    )
    margin: float = _field(
        number(
            0.3,
            at_least=0,
            at_most=2,
            recipes={"paper": 0.4, "code": 0.4},
            tunable=True,
            help="the margin delta of the loss; of infonce, what is taken off a pair's own cosine",
        )
    )
    scale: float = _field(
        number(20, above=0, tunable=True, help="of infonce, what cosines are multiplied by before the softmax")
    )
    matryoshka: tuple[int, ...] = _field(
        listing(
            [],
            items={"type": "integer", "minimum": 1},
            distinct=True,
            tunable=True,
            help="lengths below dim at which the loss is taken too, so that vectors may be cut there",
        )
    )
    directions: str = _field(
        choice(
            "both",
            ["both", "source"],
            recipes={"paper": "source"},
            tunable=True,
            help="`source` is Eq. 1 alone; `both` adds the mirrored term, as the published code does",
        )
    )
    negatives: str = _field(
        choice(
            "auto",
            ["auto", "opposite", "any", "random"],
            recipes={"code": "opposite"},
            tunable=True,
            help="mined from the opposing side, or any; auto takes any for paraphrases alone; random mines nothing",
        )
    )
    mask_equal: bool = _field(
        flag(
            True,
            recipes={"code": False},
            tunable=True,
            help="never take a text equal to the positive (or to the anchor) as a negative",
        )
    )
    dropout: float = _field(
        number(0, at_least=0, below=1, tunable=True, help="dropout on the embeddings (the paper tries 0, 0.1 and 0.3)")
    )
    token_dropout: float = _field(
        number(
            0.15,
            at_least=0,
            below=1,
            recipes={"paper": 0, "code": 0},
            tunable=True,
            help="probability with which a token is left out of its sentence's mean",
        )
    )
    learning_rate: float = _field(
        number(
            0.05,
            above=0,
            recipes={"paper": 0.001, "code": 0.001},
            tunable=True,
            help="Adam's learning rate; under a linear schedule its highest",
        )
    )
    schedule: str = _field(
        choice(
            "linear",
            ["constant", "linear"],
            recipes={"paper": "constant", "code": "constant"},
            tunable=True,
            help="of the learning rate; linear: up from 0 during warmup, then down to 0 at the end",
        )
    )
    warmup: float = _field(
        number(0.05, at_least=0, below=1, tunable=True, help="share of all pairs during which a linear schedule rises")
    )
    average: int = _field(
        whole(
            0,
            at_least=0,
            tunable=True,
            help="snapshots of the table, the last of them the end, whose mean becomes the model; 0 for none",
        )
    )
    average_part: float = _field(
        number(
            0.2,
            above=0,
            at_most=1,
            tunable=True,
            help="share of all pairs, the last ones, over which these are taken at equal distances",
        )
    )
    clip: float | None = _field(
        number(None, above=0, null=True, tunable=True, help="clip the gradient's norm at this value; null for never")
    )
    dim: int = _field(whole(1024, at_least=1, tunable=True, help="dimension of the embeddings"))
    init: str = _field(
        choice(
            "zipf",
            ["normal", "zipf"],
            recipes={"paper": "normal", "code": "normal"},
            tunable=True,
            help="rows before training: N(0, 1); zipf makes frequent pieces' small, times a / (a + share of tokens)",
        )
    )
    init_smoothing: float = _field(number(3e-4, above=0, tunable=True, help="the a of zipf"))
    init_spelling: float = _field(
        number(
            0.6,
            at_least=0,
            at_most=1,
            recipes={"paper": 0, "code": 0},
            tunable=True,
            help="share of the rows' variance, before training, that comes from the letters of their pieces",
        )
    )
    seed: int = _field(whole(1, at_least=0, help="the seed of every random choice, in data and training"))
    device: str = _field(
        text(
            "auto",
            pattern="^(auto|cpu|cuda(:[0-9]+)?)$",
            noun="auto, cpu, cuda or a numbered one as cuda:1",
            help="auto takes a GPU where there is one",
        )
    )
    precision: str = _field(
        choice(
            "float32",
            ["float32", "mixed"],
            help="mixed takes bfloat16 for products on a GPU, and compares mined candidates in float32; not for CPUs",
        )
    )
    dev_every: int | None = _field(
        whole(
            None,
            at_least=1,
            null=True,
            help="pairs between two evaluations on the development data; null for once an epoch",
        )
    )
    select: str = _field(
        choice(
            "last",
            ["best", "last"],
            recipes={"paper": "best", "code": "best"},
            help="keep the parameters with the best validation score, or the last; averaged ones "
            "(`average`) are scored once more at the end, and are then the last",
        )
    )
    log_every: int = _field(whole(50, at_least=1, help="mini-batches between two rows of metrics.csv"))

    def __post_init__(self) -> None:
        super().__post_init__()
        if not all(length < self.dim for length in self.matryoshka):
            raise self._wrong("matryoshka", f"a list of whole numbers from 1 to below dim, {self.dim}")
        object.__setattr__(self, "matryoshka", tuple(self.matryoshka))

    def as_dict(self) -> dict[str, Any]:
        """All settings, in the order of their definition, ready for JSON."""
        return dataclasses.asdict(self) | {"matryoshka": list(self.matryoshka)}


@dataclass(frozen=True)
class When(_Checked):
    """When checkpoints are written; none of it changes what is trained.

    They are written between mega-batches, and at least a hundred mini-batches apart.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "train.checkpoint"

    minutes: float | None = _field(number(10, above=0, null=True, help="between two checkpoints; null for not by time"))
    steps: int | None = _field(
        whole(
            None,
            at_least=1,
            null=True,
            help="mini-batches between two checkpoints, at least 100 in effect; null for not by mini-batches",
        )
    )
    keep: int = _field(whole(2, at_least=1, help="how many of the latest are kept until training ends"))


#: What the paper trains with where our own recipe does otherwise (its sections 3.2 and 4.1).
PAPER: Mapping[str, Any] = {
    key: setting.recipes["paper"] for key, setting in TrainSettings.declared().items() if "paper" in setting.recipes
}

#: Keys of the block ``train`` about the job rather than the training.
JOB: Mapping[str, Setting] = {
    "init_from": text(None, null=True, help="a model folder whose pieces' rows training starts from"),
    "processes": whole(
        1, at_least=1, help="processes on the CPU that train together; on one machine, one with more threads is faster"
    ),
    "gpus": whole(0, at_least=0, help="processes with a GPU each, which a cluster is asked for; 0 asks for none"),
    "threads": whole(
        2,
        at_least=1,
        help="threads of each process, however many cores there are, since another number can make another "
        "model; a job asks for them times its processes",
    ),
    "tune": flag(
        False,
        help="take the grid's keys from results/<model>/tune.json, the winner of the search that `tune` describes",
    ),
}

#: The block ``train`` of the config.
SECTION = Section(
    "training (paper, section 3)",
    {
        **{key: setting for key, setting in TrainSettings.declared().items() if key != "seed"},
        "checkpoint": Section(
            "what a stopped or killed training goes on from; each takes 0.8 GB and 3 s for 50,000 x 1,024 numbers, "
            "and the model is the same, however often they are written",
            When.declared(),
        ),
        **JOB,
    },
)
