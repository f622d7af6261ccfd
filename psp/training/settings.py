"""What can be set about training: names, defaults and limits, the same names as in the config's ``train`` block."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from psp.errors import ConfigError

#: What the paper trains with where our own recipe does otherwise (its sections 3.2 and 4.1).
PAPER: Mapping[str, Any] = {
    "epochs": 25,
    "batch_size": 128,
    "objective": "margin",
    "margin": 0.4,
    "directions": "source",
    "token_dropout": 0.0,
    "learning_rate": 1e-3,
    "schedule": "constant",
    "init": "normal",
    "init_spelling": 0.0,
    "select": "best",
}


class _Checked:
    """Settings of a block of the config, ``BLOCK``, whose wrong values are told as the config's are."""

    BLOCK: ClassVar[str]

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any]) -> Self:
        """Settings from a block of a config; keys left out keep their defaults.

        Raises:
            ConfigError: an unknown key, or a value that is not allowed.
        """
        known = cls._defaults()
        if unknown := [key for key in mapping if key not in known]:
            raise ConfigError(f"{cls.BLOCK}.{unknown[0]}: no such key; allowed are {', '.join(known)}")
        return cls(**mapping)

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        fields = dataclasses.fields(cls)  # type: ignore[arg-type]  # those who inherit are dataclasses
        return {field.name: field.default for field in fields}

    def _whole(self, key: str, at_least: int) -> None:
        value = getattr(self, key)
        if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
            raise self._wrong(key, f"a whole number, at least {at_least}")

    def _number(self, key: str, allowed: str, test: Callable[[float], bool]) -> None:
        value = getattr(self, key)
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or not test(value):
            raise self._wrong(key, f"a number, {allowed}")
        object.__setattr__(self, key, float(value))  # 1 and 1.0 in a config are the same setting

    def _choice(self, key: str, *allowed: str) -> None:
        if getattr(self, key) not in allowed:
            raise self._wrong(key, " or ".join(allowed))

    def _wrong(self, key: str, allowed: str) -> ConfigError:
        return ConfigError(
            f"{self.BLOCK}.{key}: {getattr(self, key)!r} is not allowed; allowed is {allowed}. "
            f"Write `{key}: {json.dumps(self._defaults()[key])}`"
        )


@dataclass(frozen=True)
class TrainSettings(_Checked):
    """Training by psp's own recipe, unless told otherwise; :data:`PAPER` has what the paper does otherwise.

    Attributes:
        epochs: times that each pair is seen.
        batch_size: pairs in a mini-batch, that is in one step of the optimiser.
        megabatch: mini-batches in a mega-batch once it is fully grown (the paper's M).
        anneal: mini-batches after which the mega-batch grows by one.
        objective: ``margin`` is the paper's loss, with a negative mined from the mega-batch; ``infonce`` a softmax over
            the ``candidates``.
        candidates: of ``infonce``: the mini-batch's pairs (``batch``, and nothing is mined), or beside them the
            negatives that were ``mined`` for them, from mega-batches as of the margin loss.
        margin: the paper's delta, in units of cosine; of ``infonce``, what is taken off a pair's own cosine.
        scale: of ``infonce``: cosines are multiplied by it before the softmax.
        matryoshka: lengths below ``dim`` at which the loss is taken too, of the vectors' first numbers, and the mean of
            all: so that a vector may be cut there later.
        directions: ``source`` is the paper's Eq. 1 (a negative for the source only); ``both`` adds its mirror image,
            as the published code does.
        negatives: ``opposite`` looks for them among the sentences of the other side; ``any`` among both sides;
            ``auto`` is, as in the paper, ``any`` for paraphrases and ``opposite`` for bitext; ``random`` mines nothing
            and draws a sentence of the other side.
        mask_equal: pairs that share a text are never each other's negatives.
        dropout: probability with which an element of a token's vector is zeroed, 0 <= p < 1.
        token_dropout: probability with which a token is left out of its sentence's mean, 0 <= p < 1; a sentence that
            would lose all keeps all.
        learning_rate: Adam's; under a ``linear`` schedule its highest.
        schedule: ``constant``, or ``linear``: up from 0 during ``warmup``, then down to 0 at the end.
        warmup: share of all pairs, 0 <= w < 1.
        average: how many snapshots of the weights, the last of them the end, are averaged when training ends; 0 or 1
            keeps the last as they are.
        average_part: the share of all pairs, at the end, over which they are taken at equal distances, 0 < p <= 1.
        clip: largest norm of a step's gradient; None = no clipping.
        dim: width of the vectors.
        init: ``normal`` draws the table from N(0, 1); ``zipf`` multiplies each row by a / (a + p), where p is the
            piece's share of the training tokens: frequent pieces, which say little, begin small.
        init_smoothing: that a.
        init_spelling: share, 0 to 1, of the initial rows' variance that comes from how their pieces are spelled; see
            :mod:`psp.training.spelling`.
        seed: of the order, the initial table and dropout.
        device: ``auto`` is the GPU where torch sees one, else the CPU.
        precision: ``mixed`` makes products on a GPU in bfloat16, and mines by candidates that it finds.
        dev_every: pairs between two evaluations on development data; None = once an epoch. The end is always one.
        select: which weights are kept: those of the ``best`` development score, or the ``last``. Averaged weights are
            evaluated once more after the end: they are then the last, and may be the best.
        log_every: mini-batches between two rows of metrics.csv.
    """

    BLOCK = "train"

    epochs: int = 6
    batch_size: int = 512
    megabatch: int = 60
    anneal: int = 150
    objective: str = "infonce"
    candidates: str = "batch"
    margin: float = 0.3
    scale: float = 20.0
    matryoshka: tuple[int, ...] = ()
    directions: str = "both"
    negatives: str = "auto"
    mask_equal: bool = True
    dropout: float = 0.0
    token_dropout: float = 0.15
    learning_rate: float = 0.05
    schedule: str = "linear"
    warmup: float = 0.05
    average: int = 0
    average_part: float = 0.2
    clip: float | None = None
    dim: int = 1024
    init: str = "zipf"
    init_smoothing: float = 3e-4
    init_spelling: float = 0.6
    seed: int = 1
    device: str = "auto"
    precision: str = "float32"
    dev_every: int | None = None
    select: str = "last"
    log_every: int = 50

    def __post_init__(self) -> None:
        for key in ("epochs", "megabatch", "anneal", "dim", "log_every"):
            self._whole(key, at_least=1)
        self._whole("batch_size", at_least=2)
        for key in ("seed", "average"):
            self._whole(key, at_least=0)
        if self.dev_every is not None:
            self._whole("dev_every", at_least=1)
        self._number("margin", "0 to 2", lambda value: 0 <= value <= 2)
        self._number("init_spelling", "0 to 1", lambda value: 0 <= value <= 1)
        for key in ("dropout", "token_dropout", "warmup"):
            self._number(key, "at least 0, below 1", lambda value: 0 <= value < 1)
        for key in ("learning_rate", "scale", "init_smoothing"):
            self._number(key, "above 0", lambda value: value > 0)
        self._number("average_part", "above 0, at most 1", lambda value: 0 < value <= 1)
        if self.clip is not None:
            self._number("clip", "above 0, or null for no clipping", lambda value: value > 0)
        self._choice("objective", "margin", "infonce")
        self._choice("candidates", "batch", "mined")
        self._choice("schedule", "constant", "linear")
        self._choice("directions", "both", "source")
        self._choice("negatives", "auto", "opposite", "any", "random")
        self._choice("init", "normal", "zipf")
        if not (isinstance(self.device, str) and re.fullmatch(r"auto|cpu|cuda(:[0-9]+)?", self.device)):
            raise self._wrong("device", "auto, cpu, cuda or a numbered one as cuda:1")
        self._choice("precision", "float32", "mixed")
        self._choice("select", "best", "last")
        lengths = self.matryoshka
        if not isinstance(lengths, list | tuple) or not all(type(d) is int and 1 <= d < self.dim for d in lengths):
            raise self._wrong("matryoshka", f"a list of whole numbers from 1 to below dim, {self.dim}")
        object.__setattr__(self, "matryoshka", tuple(lengths))
        if not isinstance(self.mask_equal, bool):
            raise self._wrong("mask_equal", "true or false")

    def as_dict(self) -> dict[str, Any]:
        """All settings, in the order of their definition, ready for JSON."""
        return dataclasses.asdict(self) | {"matryoshka": list(self.matryoshka)}


@dataclass(frozen=True)
class When(_Checked):
    """When checkpoints are written; none of it changes what is trained.

    They are written between mega-batches, and at least a hundred mini-batches apart.

    Attributes:
        minutes: since the last one; None = not by time.
        steps: mini-batches since the last one; None = not by steps.
        keep: how many of the latest are kept.
    """

    BLOCK = "train.checkpoint"

    minutes: float | None = 10.0
    steps: int | None = None
    keep: int = 2

    def __post_init__(self) -> None:
        if self.minutes is not None:
            self._number("minutes", "above 0, or null for never", lambda value: value > 0)
        if self.steps is not None:
            self._whole("steps", at_least=1)
        self._whole("keep", at_least=1)
