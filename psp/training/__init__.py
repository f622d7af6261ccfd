"""Training: from the store of encoded pairs to the table of subword vectors.

The modules, in the order in which data meets them: ``settings`` (the config's keys, checked), ``batches`` (pairs in
a seeded order, read ahead by a thread; ``text``: from text, not a store), ``schedule`` (how many mini-batches make a
mega-batch), ``encoder`` (ids in, one vector a sentence out), ``mining`` (which sentence may be a negative) over
``nearest`` (the nearest vectors, exactly), ``loss`` (the margin), ``optimiser`` (dense Adam over the rows in use),
``initial`` (the table before training), ``records`` and ``board`` (what is written on the way), ``checkpoint`` and
``aside`` (what is needed to go on), ``finished`` (what must not be lost), ``group`` (several processes), ``trainer``
(the steps) and ``loop`` (files in, files out: :func:`psp.training.loop.train`). ``configured``, ``launch`` and
``worker`` start it as a config says; ``tune`` is the search for settings.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    """``psp.training.train``, imported when it is asked for: checking a config must not import torch."""
    if name == "train":
        from psp.training.loop import train

        return train
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
