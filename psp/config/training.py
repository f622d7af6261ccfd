"""How the workflow trains each kind of model: what its rule reads, tracks and requests."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from psp.config.blocks.training import TrainBlock
from psp.config.model import ModelEntry, ModelKind
from psp.models import SENTENCEPIECE

if TYPE_CHECKING:
    from psp.training.loop import Training
    from psp.training.transformer import TransformerTraining


class TrainedKind(ModelKind):
    """A kind of models that are trained.

    Attributes:
        reads: what its training reads besides development data, by the names of the rules' input functions.
    """

    block: str
    reads: tuple[str, ...]

    @abstractmethod
    def rule(self, model: ModelEntry) -> str:
        """The name of the rule that trains it; models of one rule have the same files."""

    @abstractmethod
    def training(self) -> type[Training | TransformerTraining]:
        """The class that trains it; used only by jobs."""

    @abstractmethod
    def parameters(self, model: ModelEntry) -> dict[str, Any]:
        """What its training depends on besides files, seed and version: a change remakes the model."""

    def beside(self, model: ModelEntry) -> dict[str, Any]:
        """How its job runs, which does not change the model."""
        return {"log_every": model[self.block]["log_every"], "threads": self.threads(model)}

    def threads(self, model: ModelEntry) -> int:
        """Threads of its job."""
        return int(model[self.block]["threads"])

    @abstractmethod
    def megabytes(self, model: ModelEntry, of: Callable[[str], ModelEntry]) -> float:
        """An estimate of its job's memory."""


class FromStore(TrainedKind):
    """A kind of models that are trained on ids in a store, by :class:`psp.training.loop.Training`."""

    reads: tuple[str, ...] = ("store", "vocabulary", "init_from", "init_vectors", "piece_vectors", "teacher")

    def rule(self, model: ModelEntry) -> str:
        return "train" if model.tokenizer.file == SENTENCEPIECE else "train_vocabulary"

    def training(self) -> type[Training]:
        from psp.training.loop import Training

        return Training

    def parameters(self, model: ModelEntry) -> dict[str, Any]:
        train = TrainBlock.tracked(model["train"])
        if model.contextual is not None:
            train["encoder"] = model.contextual
        return {
            # What the grid decides comes from its best point; the config's values are not used.
            "train": {key: value for key, value in train.items() if key not in model.tuned},
            "development": model["development"],
            "languages": model.languages,
            "lower_case": model["filters"]["lower_case"],
            "normalisation": model.normalisation,
            "unknown_alone": model["subword"]["unknown_alone"],
            "segment": model["segment"],
            "teaching": model["teacher"],
            "recipe": model.recipe,
        }

    def beside(self, model: ModelEntry) -> dict[str, Any]:
        own = {"checkpoint": model["train"]["checkpoint"], "warn_pairs": model["mix"]["warn_pairs"]}
        return {**super().beside(model), **own}

    def megabytes(self, model: ModelEntry, of: Callable[[str], ModelEntry]) -> float:
        parts = [of(part) for part, _ in model.combined] or [model]
        return sum(train_mb(part.most_rows, largest(part, "dim")) for part in parts)


def train_mb(vocab_size: int, dim: int) -> float:
    """Estimate training's memory, in MB: weights, two moments, one copy being written, a gradient on a GPU; the rest.

    Measured at 50,000 x 1,024 and 12,800 pairs a mega-batch: 1,400 MB, of which 610 are weights and moments, 310
    imports and 150 the mega-batch's vectors.
    """
    return 1200 + 5 * 4 * vocab_size * dim / 1e6


def largest(model: ModelEntry, key: str) -> Any:
    """The value of a numeric key of the block ``train``; the largest that the grid may choose."""
    return max(train[key] for train in model.points.values()) if key in model.tuned else model["train"][key]
