"""Send a mini-batch through the transformer in pieces of texts of similar length, so that there is little padding.

The library pads a mini-batch to its longest text: for the mined Polish pairs, whose texts have 20 tokens on average, to
95. A CPU takes as long for padding as for text; for a GPU one large product is better.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import torch
from torch.nn.functional import pad

#: Texts in a piece. For 64 texts of mined pairs, 16 at a time leave a fifth of the computation to padding.
TEXTS = 16
TOKENS, MASK, STATES = "input_ids", "attention_mask", "token_embeddings"


@contextlib.contextmanager
def in_pieces(transformer: Any, texts: int = TEXTS) -> Iterator[None]:
    """Let a transformer compute its token vectors piece by piece; the vectors change only by rounding.

    Args:
        transformer: sentence-transformers' ``Transformer``; its own method is restored afterwards.
        texts: texts in a piece.
    """
    whole = transformer.forward

    def forward(features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        mask = features.get(MASK)
        if mask is None or len(mask) <= texts or not mask[:, 0].all():  # padded on the left: another order of columns
            output: dict[str, Any] = whole(features, **kwargs)
            return output
        lengths = mask.sum(1)
        order = torch.argsort(lengths, descending=True, stable=True)
        states = []
        for rows in order.split(texts):
            longest = int(lengths[rows[0]])
            part = {
                key: value[rows, :longest] if isinstance(value, torch.Tensor) and value.shape == mask.shape else value
                for key, value in features.items()
            }
            states.append(pad(whole(part, **kwargs)[STATES], (0, 0, 0, mask.shape[1] - longest)))
        features[STATES] = torch.cat(states)[torch.argsort(order)]
        return features

    transformer.forward = forward
    try:
        yield
    finally:
        del transformer.forward
