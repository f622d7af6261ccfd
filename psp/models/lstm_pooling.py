"""LSTM pooling behind a transformer, a module of sentence-transformers; importing it needs that library (6 or later).

A sentence's vector is the last hidden state of an LSTM that reads the transformer's token vectors in order; of a
bidirectional one, the last states of both directions side by side, so that each has read the whole sentence. (The
library's own ``LSTM`` is made for word embeddings and returns token vectors.)
"""

from __future__ import annotations

import contextlib
import copy
from typing import Any, Self

import torch
from sentence_transformers.base.modules import Module
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from psp.core.machine import has_bfloat16_lstm


class LstmPooling(Module):
    """Pool token vectors, float (n, longest, embedding_dimension), to sentence vectors, float32 (n, dim).

    Args:
        embedding_dimension: the transformer's width.
        dim: dimensions of a sentence's vector.
        bidirectional: read each sentence both ways, with ``dim`` / 2 dimensions for each.

    Raises:
        ValueError: ``dim`` is odd, and the LSTM is bidirectional.
    """

    # Saved models name the class by this, so the module that defines it may move.
    __module__ = "paraphrastic.exports"
    config_keys = ["embedding_dimension", "dim", "bidirectional"]  # noqa: RUF012 (as the library declares it)

    def __init__(self, embedding_dimension: int, dim: int, bidirectional: bool = False) -> None:
        super().__init__()
        if bidirectional and dim % 2:
            raise ValueError(f"dim is {dim}; both directions get half of it, so that it must be even")
        self.embedding_dimension, self.dim, self.bidirectional = embedding_dimension, dim, bidirectional
        width = dim // 2 if bidirectional else dim
        self.lstm = nn.LSTM(embedding_dimension, width, batch_first=True, bidirectional=bidirectional)

    def forward(self, features: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
        """Add ``sentence_embedding`` to features with ``token_embeddings`` and, if there is padding, its mask."""
        tokens: Tensor = features["token_embeddings"]
        mask: Tensor = features.get("attention_mask", tokens.new_ones(tokens.shape[:2]))
        if not mask[:, 0].all():  # padded on the left: move the tokens to the front, in their order
            order = torch.argsort(1 - mask.long(), dim=1, stable=True)
            tokens = tokens.gather(1, order[:, :, None].expand_as(tokens))
        lengths = mask.long().sum(1).clamp(min=1).cpu()  # a text is never without tokens, but a caller's may be
        kind = tokens.device.type
        precise = torch.is_autocast_enabled(kind) and not has_bfloat16_lstm(kind)
        with torch.autocast(kind, enabled=False) if precise else contextlib.nullcontext():
            tokens = tokens.float() if precise else tokens
            packed = pack_padded_sequence(tokens, lengths, batch_first=True, enforce_sorted=False)
            _, (states, _) = self.lstm(packed)
        features["sentence_embedding"] = torch.cat(tuple(states), dim=1).float()
        return features

    def get_embedding_dimension(self) -> int:
        """The number of dimensions of a sentence's vector."""
        return self.dim

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Write config.json and model.safetensors into a folder."""
        self.save_config(output_path)
        # On a GPU all weights lie in one piece of memory, which safetensors refuses; a copy on the CPU has its own.
        there = self if self.lstm.weight_ih_l0.device.type == "cpu" else copy.deepcopy(self).cpu()
        there.save_torch_weights(output_path, safe_serialization=safe_serialization)

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        **kwargs: Any,
    ) -> Self:
        """Load the module from its folder in a model, on disk or on the hub."""
        place = {
            "subfolder": subfolder,
            "token": token,
            "cache_folder": cache_folder,
            "revision": revision,
            "local_files_only": local_files_only,
        }
        made: Self = cls(**cls.load_config(model_name_or_path, **place))
        cls.load_torch_weights(model_name_or_path, **place, model=made)
        return made
