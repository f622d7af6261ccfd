"""Detect training that diverged or learnt nothing, from the loss before and after it and the lengths of vectors."""

from __future__ import annotations

import logging

import torch
from torch import Tensor

from psp.core.errors import PspError

log = logging.getLogger(__name__)

ADVICE = "lower learning_rate, set clip, or start from other weights"
#: Multiples of the untrained weights' loss: above the first, training has diverged; above the second, it has learnt
#: next to nothing. One epoch of 50,000 pairs ended at 0.01 to 0.4 of it with learning rates of 0.05 to 5, for every
#: objective, at 0.7 to 0.95 with 0.001, at 0.995 and more with 1e-5, and at 0.9 to 1.14 from 1e4 on.
DIVERGED, HARDLY = 1.01, 0.97
#: With so few steps, on a handful of pairs, even sound settings may end above the untrained loss.
FEW_STEPS = 10


def check_learnt(
    before: float,
    after: float,
    *,
    of_equal_vectors: float,
    learning_rate: float,
    step: int,
    kept_step: int,
    refuse: bool = True,
) -> None:
    """Compare the loss of one mini-batch before training with that after it.

    As training may start from trained weights, the untrained loss is taken to be at least that of vectors that are all
    equal. A loss that hardly fell gives a warning, and so does divergence after the step whose weights are kept.

    Args:
        before: the loss of the first weights.
        after: the loss of the last.
        of_equal_vectors: the loss if all vectors are equal.
        learning_rate: that of the settings, for the message.
        step: steps of training.
        kept_step: the step whose weights are the result.
        refuse: divergence is an error; otherwise, and always after only a few steps, it is a warning.

    Raises:
        PspError: training diverged.
    """
    untrained = max(before, of_equal_vectors)
    if after <= HARDLY * untrained:
        return
    what = f"the first mini-batch's loss is {after:.4g} after training and was {before:.4g} before"
    if after <= DIVERGED * untrained:
        how = "almost nothing was learnt; try a learning_rate other than"
        log.warning("%s: %s %g, or more epochs", what, how, learning_rate)
        return
    message = f"training diverged: {what}; {ADVICE}"
    if kept_step < step:
        log.warning("%s. The weights of step %d, the best, are kept", message, kept_step)
    elif refuse and step >= FEW_STEPS:
        raise PspError(message)
    else:
        log.warning("%s", message)


def measurable(*tensors: Tensor) -> bool:
    """Whether every row has a finite norm in float32 (rows of 1e20 are finite, their squares are not)."""
    return all(bool(torch.linalg.vector_norm(tensor.detach(), dim=-1).isfinite().all()) for tensor in tensors)
