"""The settings of the block ``teacher``, declared once."""

from __future__ import annotations

from dataclasses import dataclass

from psp.core.settings import Section
from psp.training import settings_base as field
from psp.training.settings_base import CheckedSettings

#: The losses, and whether each compares sentences of neighbourhoods instead of a mini-batch of pairs.
LOSSES = {"kl": False, "neighbours-kl": True}

#: A teacher's vectors are centred above this mean cosine of two sentences: multilingual-e5-small's is 0.82, MiniLM's
#: 0.05. Uncentred, e5's made `pl` worse: score 75.06, untaught 75.77, centred 75.97.
NARROW = 0.5


@dataclass(frozen=True)
class TeacherSettings(CheckedSettings):
    """How a model learns from a teacher; each declaration has its help.

    Raises:
        ConfigError: a value is not allowed.
    """

    BLOCK = "teacher"

    encoder: str | None = field.text(
        None,
        at_least=1,
        null=True,
        recipes={"distilled": "minilm"},
        help="the teacher: use-multilingual (extra use), multilingual-e5-small (extra e5), minilm (extra peers), a "
        "psp model's folder, a file of word vectors, sentence-transformers:<name or folder> or model2vec:<name or "
        "folder>; null for none. A recipe's teacher is only for models that it can teach",
    )
    languages: tuple[str, ...] | None = field.list_of(
        None,
        items={"type": "string", "pattern": "^[a-z]{2,3}$"},
        at_least=1,
        distinct=True,
        null=True,
        help="languages that the teacher knows; null: those that psp knows (for named encoders and psp models)",
    )
    sentences: int | None = field.integer(
        None,
        at_least=2,
        null=True,
        recipes={"distilled": 200_000},
        help="distinct sentences that the teacher embeds, a random sample; null for all",
    )
    precision: str = field.choice(
        "float32",
        ["float32", "bfloat16", "auto"],
        recipes={"distilled": "auto"},
        help="bfloat16: encoders in torch compute in it; auto: on hardware with bfloat16 instructions, where it is "
        "faster; no effect on others",
    )
    centred: bool | None = field.boolean(
        None,
        null=True,
        help="subtract the mean of its vectors, then make them unit vectors again: for a teacher whose cosines lie "
        f"close together, like multilingual-e5-small; null: if the mean cosine of its sentences is above {NARROW}",
    )
    loss: str = field.choice(
        "neighbours-kl",
        [*LOSSES],
        help="which of the teacher's cosines to learn: kl, those within a mini-batch, as a softmax per sentence; "
        "neighbours-kl, those within neighbourhoods, likewise",
    )
    weight: float = field.number(
        0.5,
        above=0,
        at_most=1,
        help="the teacher's share of the loss; `train.objective` has the rest. 1: ignore pairs, which a model of "
        "plain text needs",
    )
    scale: float = field.number(
        10,
        above=0,
        help="factor of cosines before the softmax; squared differences are multiplied by half its square",
    )
    centres: int = field.integer(32, at_least=1, help="random sentences in a mini-batch of neighbourhoods")
    neighbours: int = field.integer(
        15, at_least=1, help="nearest sentences, by the teacher, that accompany each centre"
    )
    among: int = field.integer(
        33, at_least=1, help="nearest sentences from which these are drawn at random; at least `neighbours`"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.among < self.neighbours:
            raise self._wrong("among", f"at least neighbours, {self.neighbours}")

    @property
    def in_neighbourhoods(self) -> bool:
        """Whether the loss compares the sentences of neighbourhoods."""
        return LOSSES[self.loss]


#: Keys that the rule ``teach`` reads.
OF_VECTORS = ("encoder", "languages", "sentences", "precision", "centred", "loss", "among", "neighbours")

#: The block ``teacher`` of the config.
SECTION = Section(
    "another encoder, whose cosines between sentences the model learns, with or without pairs (knowledge distillation)",
    TeacherSettings.declared(),
)
