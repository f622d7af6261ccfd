"""The encoder: a sentence is the mean of its subwords' vectors (paper, section 3.2).

Flat ids and offsets go in, one vector a sentence comes out; there is no padding, and no loop over sentences.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn import functional


def mean_vectors(table: Tensor, ids: Tensor, offsets: Tensor) -> Tensor:
    """Mean of the rows of ``table`` that each sentence names.

    Args:
        table: shape (rows, dim).
        ids: row numbers of all sentences, one after another; int32 or int64, shape (tokens,).
        offsets: sentence i is ``ids[offsets[i]:offsets[i + 1]]``; as ``ids``, shape (sentences + 1,).

    Returns:
        Shape (sentences, dim); a sentence without tokens is the zero vector.
    """
    return functional.embedding_bag(ids, table, offsets, mode="mean", include_last_offset=True)


def dropped_mean_vectors(
    table: Tensor, ids: Tensor, offsets: Tensor, dropout: float, generator: torch.Generator
) -> Tensor:
    """Like :func:`mean_vectors`, with dropout on each element of each token's vector.

    An element is zeroed with probability ``dropout`` and otherwise divided by 1 - dropout, so that the expectation is
    the plain mean. Every occurrence of a token draws its own noise, from ``generator`` (on the table's device), which
    makes it repeatable and leaves torch's global generator alone.
    """
    tokens = functional.embedding(ids, table)
    kept = torch.rand(tokens.shape, generator=generator, device=table.device) >= dropout
    tokens = tokens * kept / (1.0 - dropout)
    # Each token is now a row of its own: the mean over a sentence is a bag over consecutive rows (4 times as fast on a
    # CPU as index_add, and deterministic on a GPU).
    return mean_vectors(tokens, torch.arange(len(ids), device=ids.device, dtype=ids.dtype), offsets)


def normal_table(rows: int, dim: int, seed: int) -> Tensor:
    """A table drawn from N(0, 1), float32 on the CPU: the same for every device."""
    return torch.randn(rows, dim, generator=torch.Generator().manual_seed(seed))
