"""The block ``teacher``."""

from typing import Annotated, ClassVar, Literal

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Distinct, Language, Text, setting
from psp.core.errors import ConfigError

#: The losses, and whether each compares sentences of neighbourhoods instead of a mini-batch of pairs.
LOSSES = {"kl": False, "neighbours-kl": True}
#: A teacher's vectors are centred above this mean cosine of two sentences: multilingual-e5-small's is 0.82, MiniLM's
#: 0.05. Uncentred, e5's made `pl` worse: score 75.06, untaught 75.77, centred 75.97.
NARROW = 0.5
#: Keys that the rule ``teach`` reads.
OF_VECTORS = ("encoder", "languages", "sentences", "precision", "centred", "loss", "among", "neighbours")


class TeacherSettings(Block):
    """Another encoder, whose cosines between sentences the model learns, with or without pairs (knowledge
    distillation).
    """

    BLOCK: ClassVar[str] = "teacher"

    encoder: Text | None = setting(
        None,
        "the teacher: use-multilingual (extra use), multilingual-e5-small (extra e5), minilm (extra "
        "peers), a psp model's folder, a file of word vectors, sentence-transformers:<name or folder> or "
        "model2vec:<name or folder>; null for none. A recipe's teacher is only for models that it can teach",
        recipes={"distilled": "minilm"},
    )
    languages: Annotated[list[Language], Distinct] | None = setting(
        None,
        "languages that the teacher knows; null: those that psp knows (for named encoders and psp models)",
        min_length=1,
    )
    sentences: int | None = setting(
        None,
        "distinct sentences that the teacher embeds, a random sample; null for all",
        recipes={"distilled": 200000},
        ge=2,
    )
    precision: Literal["float32", "bfloat16", "auto"] = setting(
        "float32",
        "bfloat16: encoders in torch compute in it; auto: on hardware with bfloat16 instructions, where it "
        "is faster; no effect on others",
        recipes={"distilled": "auto"},
    )
    centred: bool | None = setting(
        None,
        "subtract the mean of its vectors, then make them unit vectors again: for a teacher whose cosines "
        "lie close together, like multilingual-e5-small; null: if the mean cosine of its sentences is "
        "above 0.5",
    )
    loss: Literal["kl", "neighbours-kl"] = setting(
        "neighbours-kl",
        "which of the teacher's cosines to learn: kl, those within a mini-batch, as a softmax per "
        "sentence; neighbours-kl, those within neighbourhoods, likewise",
    )
    weight: float = setting(
        0.5,
        "the teacher's share of the loss; `train.objective` has the rest. 1: ignore pairs, which a model "
        "of plain text needs",
        gt=0,
        le=1,
    )
    scale: float = setting(
        10, "factor of cosines before the softmax; squared differences are multiplied by half its square", gt=0
    )
    centres: int = setting(32, "random sentences in a mini-batch of neighbourhoods", ge=1)
    neighbours: int = setting(15, "nearest sentences, by the teacher, that accompany each centre", ge=1)
    among: int = setting(33, "nearest sentences from which these are drawn at random; at least `neighbours`", ge=1)

    def check(self) -> None:
        if self.among < self.neighbours:
            raise ConfigError(f"teacher.among is {self.among}, but must be at least neighbours, {self.neighbours}")

    @property
    def in_neighbourhoods(self) -> bool:
        """Whether the loss compares the sentences of neighbourhoods."""
        return LOSSES[self.loss]
