"""The mega-batch size and the learning rate at a given point of training."""

from __future__ import annotations


def megabatch_size(step: int, anneal: int, maximum: int) -> int:
    """Mini-batches in the mega-batch that starts after ``step`` mini-batches.

    The paper (section 5.1) starts with one and adds one every 150 mini-batches up to M, so that negatives get harder
    as the model gets better. ``anneal`` is that 150; with 0 every mega-batch has M, as in ParaNMT-50M (Wieting & Gimpel
    2018, section 4).
    """
    return min(maximum, 1 + step // anneal) if anneal else maximum


def learning_rate(highest: float, schedule: str, warmup: float, done: float) -> float:
    """The learning rate of a step.

    Args:
        highest: the setting.
        schedule: ``constant``; or ``linear``: rising linearly from 0 to ``highest``, then falling to 0.
        warmup: the share of training after which it is highest, 0 <= w < 1.
        done: the share of training that lies before the middle of this step, 0 < d < 1: so no step has a rate of 0.
    """
    if schedule == "constant":
        return highest
    return highest * (done / warmup if done < warmup else (1 - done) / (1 - warmup))
