"""The interface of trainable encoders: ids in, one vector per sentence out, and in the end a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from torch import Tensor

from psp.evaluation.scorers import Embedder
from psp.text.tokenizer import Encoded, Tokenizer


class Encoder(Protocol):
    """A ``torch.nn.Module`` whose parameters its optimiser moves.

    An optimiser may lag behind on rows of the embedding matrix (:data:`psp.training.optimiser.RowOptimiser`): an
    encoder has it prepare rows before it reads them. All rows are up to date when :meth:`state_dict` or
    :meth:`embedder` is called.
    """

    def state_dict(self) -> dict[str, Tensor]:
        """The weights by name, sharing their memory."""
        ...

    def load_state_dict(self, state_dict: Mapping[str, Tensor]) -> Any:
        """Copy such weights into its own."""
        ...

    def encode(self, sentences: Encoded) -> Tensor:
        """Vectors with dropout off and without a gradient, shape (sentences, dim)."""
        ...

    def __call__(self, sentences: Encoded, step: int) -> Tensor:
        """Vectors for training, shape (sentences, dim), with dropout on.

        Noise depends only on the encoder's seed, ``step``, and each sentence's number in the mini-batch, so that a
        resumed training draws the same.
        """
        ...

    def embedder(self, tokenizer: Tokenizer, config: Mapping[str, Any]) -> Embedder:
        """Return a function from text to vectors with the current weights, for scores on development data.

        Args:
            tokenizer: of the ids.
            config: how text is read: ``lower_case``, ``segment``.
        """
        ...

    def save(
        self, folder: Path, weights: Mapping[str, Tensor], tokenizer: Tokenizer, config: Mapping[str, Any]
    ) -> None:
        """Write a model's folder, which embeds text as :meth:`embedder` does.

        Args:
            folder: where.
            weights: the :meth:`state_dict` to save.
            tokenizer: of the ids; its files are copied.
            config: goes into config.json.
        """
        ...
