"""The losses as they are defined, with torch's own gradient: what the fast ones of psp.training.losses must equal."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

from psp.training.losses.margin import EPSILON


def infonce_loss(
    source: Tensor,
    target: Tensor,
    margin: float,
    scale: float,
    masked: Tensor | None = None,
) -> Tensor:
    """Symmetric InfoNCE with an additive margin.

    Args:
        source, target: vectors of n pairs, shape (n, dim).
        margin: taken off the cosine of a pair's own two sides.
        scale: cosines are multiplied by it; the inverse of the softmax's temperature.
        masked: bool (n, n), true where source i and target j must not be each other's negatives; None: nowhere.
            The diagonal is ignored.

    Returns:
        A scalar: the mean over both directions of -log softmax of the own one among the candidates.
    """
    left, right = (functional.normalize(side, dim=1, eps=EPSILON) for side in (source, target))
    own = torch.eye(len(left), dtype=torch.bool, device=left.device)
    logits = scale * (left @ right.T - margin * own.to(left.dtype))
    if masked is not None:
        logits = logits.masked_fill(masked & ~own, -torch.inf)
    labels = torch.arange(len(left), device=left.device)
    return (functional.cross_entropy(logits, labels) + functional.cross_entropy(logits.T, labels)) / 2


def divergence_loss(vectors: Tensor, cosines: Tensor, scale: float) -> Tensor:
    """The loss of ``kl`` and ``neighbours-kl``: a scalar of vectors (n, dim) and a teacher's cosines (n, n)."""
    units = functional.normalize(vectors, dim=1, eps=EPSILON)
    others = ~torch.eye(len(units), dtype=torch.bool, device=units.device)
    student, teacher = (
        (scale * matrix)[others].view(len(units), -1).log_softmax(dim=1) for matrix in (units @ units.T, cosines)
    )
    return functional.kl_div(student, teacher, reduction="sum", log_target=True) / len(units)
