"""How the workflow trains each kind of model: what makes a model anew, how its job runs, and what that takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from psp.config.blocks.training import TrainBlock
from psp.config.blocks.transformer import TransformerSettings
from psp.config.model import ModelEntry
from psp.core import user_code
from psp.training import losses


def parameters(model: ModelEntry) -> dict[str, Any]:
    """What the training of embeddings depends on besides files, seed and version: a change remakes the model."""
    train, objective = TrainBlock.tracked(model["train"]), model["train"]["objective"]
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
        **({"own_loss": user_code.fingerprint([objective], losses.PLACE)} if ":" in objective else {}),
    }


def beside(model: ModelEntry) -> dict[str, Any]:
    """How the job runs, which does not change the model; threads can change its last bits."""
    own = {key: model["train"][key] for key in ("log_every", "threads", "checkpoint")}
    return {**own, "warn_pairs": model["mix"]["warn_pairs"]}


def transformer_parameters(model: ModelEntry) -> dict[str, Any]:
    """As :func:`parameters`, of a transformer."""
    return {
        "train": TransformerSettings.tracked(model["transformer"]),
        "base": model.base,
        "development": model["development"],
        "languages": model.languages,
        "recipe": model.recipe,
    }


def transformer_beside(model: ModelEntry) -> dict[str, Any]:
    """As :func:`beside`, of a transformer."""
    return {key: model["transformer"][key] for key in ("log_every", "threads", "device", "checkpoint_steps")}


def table_mb(model: ModelEntry, of: Callable[[str], ModelEntry]) -> float:
    """Estimate the memory of training embeddings, in MB; ``of`` finds another model by its name."""
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
