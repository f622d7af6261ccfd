"""Training: from the store of encoded pairs to the table of subword vectors.

The modules, in the order in which data meets them: ``settings`` (the config's keys, checked), ``text`` (pairs from a
text file, where there is no store), ``batches`` (pairs in a seeded order, read ahead by a thread), ``schedule`` (how
many mini-batches make a mega-batch), ``mining`` (the hardest negatives of a mega-batch), ``encoder`` (ids in, one
vector a sentence out), ``loss`` (the margin), ``optimiser`` (Adam over the table's rows), ``initial`` (the table
before training), ``records`` (what is written on the way), ``trainer`` (the steps) and ``loop`` (files in, files out:
:func:`psp.training.loop.train`).
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """``psp.training.train``, imported when it is asked for: checking a config must not import torch."""
    if name == "train":
        from psp.training.loop import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
