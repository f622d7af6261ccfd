"""How large a mega-batch is at a given step."""

from __future__ import annotations


def megabatch_size(step: int, anneal: int, maximum: int) -> int:
    """Mini-batches in the mega-batch that starts after ``step`` mini-batches.

    The paper (section 4.1) starts with one and adds one every 150 mini-batches up to M, so that negatives get harder
    as the model gets better. ``anneal`` is that 150.
    """
    return min(maximum, 1 + step // anneal)
