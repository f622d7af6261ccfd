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
    extra: tuple[Tensor, Tensor] | None = None,
) -> Tensor:
    """Symmetric InfoNCE with an additive margin.

    Args:
        source, target: vectors of n pairs, shape (n, dim).
        margin: taken off the cosine of a pair's own two sides.
        scale: cosines are multiplied by it; the inverse of the softmax's temperature.
        masked: bool (n, n), true where source i and target j must not be each other's negatives; None: nowhere.
            The diagonal is ignored. With ``extra``, (n, n + k + l): the columns after n mask extra negatives of pair i.
        extra: vectors of the extra negatives of all sources, shape (k, dim), and of all targets, shape (l, dim).

    Returns:
        A scalar: the mean over both directions of -log softmax of the own one among the candidates.
    """
    left, right = (functional.normalize(side, dim=1, eps=EPSILON) for side in (source, target))
    own = torch.eye(len(left), dtype=torch.bool, device=left.device)
    logits = scale * (left @ right.T - margin * own.to(left.dtype))
    if masked is not None:
        logits = logits.masked_fill(masked[:, : len(left)] & ~own, -torch.inf)
    by_source, by_target = logits, logits.T
    if extra is not None:
        units = [functional.normalize(more, dim=1, eps=EPSILON) for more in extra]
        wide = [scale * side @ more.T for side, more in zip((left, right), units, strict=True)]
        if masked is not None:
            masks = masked[:, len(left) :].split([len(more) for more in extra], dim=1)
            wide = [part.masked_fill(mask, -torch.inf) for part, mask in zip(wide, masks, strict=True)]
        by_source, by_target = torch.cat([by_source, wide[0]], dim=1), torch.cat([by_target, wide[1]], dim=1)
    labels = torch.arange(len(left), device=left.device)
    return (functional.cross_entropy(by_source, labels) + functional.cross_entropy(by_target, labels)) / 2


def divergence_loss(vectors: Tensor, cosines: Tensor, scale: float) -> Tensor:
    """The loss of ``kl`` and ``neighbours-kl``: a scalar of vectors (n, dim) and a teacher's cosines (n, n)."""
    units = functional.normalize(vectors, dim=1, eps=EPSILON)
    others = ~torch.eye(len(units), dtype=torch.bool, device=units.device)
    student, teacher = (
        (scale * matrix)[others].view(len(units), -1).log_softmax(dim=1) for matrix in (units @ units.T, cosines)
    )
    return functional.kl_div(student, teacher, reduction="sum", log_target=True) / len(units)
