"""The margin loss (paper, Eq. 1)."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional

EPSILON = 1e-8  # each norm is at least this, as in torch's own cosine similarity


def margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, valid: Tensor) -> Tensor:
    """Mean of max(0, margin - cos(anchor, positive) + cos(anchor, negative)) over the pairs that have a negative.

    One direction of the loss: with sources as anchors it is Eq. 1; the published code adds the same term with
    targets as anchors.

    Args:
        anchor, positive, negative: one row a pair, shape (n, dim).
        valid: bool, shape (n,); False where the pair has no allowed negative. Its row of ``negative`` is ignored.

    Returns:
        A scalar; 0 (with zero gradients) when no pair has a negative.
    """
    near = functional.cosine_similarity(anchor, positive, dim=1, eps=EPSILON)
    far = functional.cosine_similarity(anchor, negative, dim=1, eps=EPSILON)
    terms = (margin - near + far).clamp(min=0)
    return torch.where(valid, terms, 0.0).sum() / valid.sum().clamp(min=1)
