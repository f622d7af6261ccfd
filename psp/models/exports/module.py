"""The module that our sentence-transformers export names; importing it needs sentence-transformers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch

try:
    from sentence_transformers.sentence_transformer.modules import InputModule
except ModuleNotFoundError:  # before version 6
    from sentence_transformers.models import InputModule

from psp.models.exports.common import rows
from psp.models.exports.sentence_transformers import save
from psp.models.static import StaticModel


class SubwordMean(InputModule):
    """The mean of subword embeddings, with the model's own sentencepiece; the embeddings can be trained further.

    ``SentenceTransformer(modules=[SubwordMean.load(folder)])`` works with any model's folder, without an export.

    Args:
        model: its tokenizer and initial embeddings.
    """

    def __init__(self, model: StaticModel) -> None:
        super().__init__()
        self.model = model
        self.embedding = torch.nn.EmbeddingBag.from_pretrained(torch.from_numpy(rows(model)), freeze=False)

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None, **kwargs: Any) -> dict[str, torch.Tensor]:
        """Turn texts into flat ids and the offset at which each text begins, both int64."""
        ids, offsets = self.model.ids([prompt + text for text in inputs] if prompt else inputs)
        return {"input_ids": torch.from_numpy(ids).long(), "offsets": torch.from_numpy(offsets[:-1])}

    def tokenize(self, texts: Sequence[str], **kwargs: Any) -> dict[str, torch.Tensor]:
        """The name of :meth:`preprocess` before version 6."""
        return self.preprocess(texts, **kwargs)

    def forward(self, features: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        """Turn ids into ``sentence_embedding``, float32 (n, dim); zeros for a text without ids."""
        features["sentence_embedding"] = self.embedding(features["input_ids"], features["offsets"])
        return features

    def get_embedding_dimension(self) -> int:
        """The number of dimensions of a vector."""
        return self.model.dim

    get_sentence_embedding_dimension = get_embedding_dimension  # its name before version 6

    @property
    def max_seq_length(self) -> float:
        """There is no limit."""
        return float("inf")

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Save an ordinary model folder with the current embeddings."""
        save(self.model, self.embedding.weight.detach().cpu().numpy(), Path(output_path))

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
    ) -> SubwordMean:
        """Load a model's folder from disk or from the hub."""
        folder = cls.load_dir_path(
            model_name_or_path,
            subfolder=subfolder,
            token=token,
            cache_folder=cache_folder,
            revision=revision,
            local_files_only=local_files_only,
        )
        return cls(StaticModel.load(folder))
