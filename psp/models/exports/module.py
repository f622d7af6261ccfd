"""The module that our sentence-transformers exports name; importing it needs sentence-transformers."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
import torch
from sentence_transformers.sentence_transformer.modules import InputModule
from torch.nn import functional

from psp.models.combined import ADD, CombinedModel, parts_of
from psp.models.exports.common import rows
from psp.models.folder import OURS, load
from psp.models.lstm import BOTH, CONCAT, MAX, Direction, Lstm
from psp.models.static import StaticModel
from psp.models.text_model import TextModel, checked_texts


class PspModel(InputModule):
    """Any psp model: means of subwords, words or trigrams, LSTMs and combinations; all matrices can be trained further.

    ``SentenceTransformer(modules=[PspModel.load(folder)])`` works with any model's folder, without an export.

    Args:
        model: its tokenizers and initial matrices.
    """

    def __init__(self, model: TextModel) -> None:
        super().__init__()
        self.model = model
        self.parts = torch.nn.ModuleList(map(_Part, parts_of(model)))

    def get_embedding_dimension(self) -> int:
        """The number of dimensions of a vector."""
        return self.model.dim

    @property
    def max_seq_length(self) -> float:
        """There is no limit."""
        return float("inf")

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
        """Load a model's folder from disk or from the hub."""
        folder = cls.load_dir_path(
            model_name_or_path,
            subfolder=subfolder,
            token=token,
            cache_folder=cache_folder,
            revision=revision,
            local_files_only=local_files_only,
        )
        return cls(load(folder))

    def preprocess(self, inputs: Sequence[str], prompt: str | None = None, **kwargs: Any) -> dict[str, torch.Tensor]:
        """Turn texts into flat ids and the offset at which each text begins, both int64.

        These are ``input_ids`` and ``offsets`` of the first part, ``input_ids_1`` and ``offsets_1`` of the next.
        """
        texts = [prompt + text for text in checked_texts(inputs)] if prompt else inputs
        features: dict[str, torch.Tensor] = {}
        for end, part in zip(self._ends(), parts_of(self.model), strict=True):
            features |= {f"{name}{end}": tensor for name, tensor in _features(part, texts).items()}
        return features

    def forward(self, features: dict[str, torch.Tensor], **kwargs: Any) -> dict[str, torch.Tensor]:
        """Turn ids into ``sentence_embedding``, float32 (n, dim); zeros for a text without ids."""
        vectors = [
            part(features[f"input_ids{end}"], features[f"offsets{end}"])
            for end, part in zip(self._ends(), self.parts, strict=True)
        ]
        model = self.model
        if isinstance(model, CombinedModel) and model.scaled:
            vectors = [_unit(one) * math.sqrt(weight) for one, weight in zip(vectors, model.weights, strict=True)]
        added = isinstance(model, CombinedModel) and model.joined_by == ADD
        features["sentence_embedding"] = torch.stack(vectors).sum(0) if added else torch.cat(vectors, dim=1)
        return features

    def save(self, output_path: str, *args: Any, safe_serialization: bool = True, **kwargs: Any) -> None:
        """Save an ordinary model folder with the current matrices, in float32."""
        parts = [cast(_Part, part).in_numpy() for part in self.parts]
        model = self.model
        whole = parts[0]
        if isinstance(model, CombinedModel):
            whole = CombinedModel(parts, model.weights, model.config, join=model.joined_by, scaled=model.scaled)
        whole.save(output_path, card=False)

    def _ends(self) -> list[str]:
        """The suffix of each part's features."""
        return ["", *(f"_{number}" for number in range(1, len(self.parts)))]


class _Part(torch.nn.Module):
    """A model's embedding matrix and LSTM, in torch."""

    def __init__(self, model: TextModel) -> None:
        super().__init__()
        self._model = model
        self.embedding = torch.nn.EmbeddingBag.from_pretrained(torch.from_numpy(rows(model)), freeze=False)
        self.lstm = None if model.contextual is None else _in_torch(model.contextual)

    def forward(self, ids: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        """The vectors, (n, dim), of flat ids, int64, and the place at which each text begins, int64 (n,)."""
        if self.lstm is None:
            means: torch.Tensor = self.embedding(ids, starts)
            return means
        lengths = torch.diff(starts, append=starts.new_tensor([len(ids)]))
        vectors = self.embedding.weight.new_zeros(len(lengths), self._model.dim)
        there = torch.nonzero(lengths).ravel()
        if not len(there):
            return vectors
        texts = functional.embedding(ids, self.embedding.weight).split(lengths[there].tolist())
        read, _ = self.lstm(torch.nn.utils.rnn.pack_sequence(list(texts), enforce_sorted=False))
        states, _ = torch.nn.utils.rnn.pad_packed_sequence(read)
        return vectors.index_copy(0, there, self._pooled(states, lengths[there]))

    def _pooled(self, states: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """The vectors of padded states, (longest, n, directions x width)."""
        own: Any = self._model.contextual
        if own.kind == BOTH and own.combine != CONCAT:
            states = states.unflatten(2, (2, own.width)).mean(2)
        inside = (torch.arange(len(states), device=states.device)[:, None] < lengths)[:, :, None]
        if own.pooling == MAX:
            return states.masked_fill(~inside, -torch.inf).amax(0)
        return (states * inside).sum(0) / lengths[:, None]

    def in_numpy(self) -> TextModel:
        """The model with the current matrices."""
        own, contextual = self._model, self._model.contextual
        if contextual is not None and self.lstm is not None:
            contextual = Lstm(_directions(self.lstm), contextual.combine, contextual.pooling)
        config = {key: value for key, value in own.config.items() if key not in OURS}
        return StaticModel(_array(self.embedding.weight), own.tokenizer, config, contextual=contextual)


def _features(model: TextModel, texts: Sequence[str]) -> dict[str, torch.Tensor]:
    """Flat ids and the offset at which each text begins, both int64."""
    ids, offsets = model.ids(texts)
    return {"input_ids": torch.from_numpy(ids).long(), "offsets": torch.from_numpy(offsets[:-1])}


def _unit(vectors: torch.Tensor) -> torch.Tensor:
    """As :func:`psp.models.text_model.unit`."""
    largest = vectors.detach().abs().amax(dim=1, keepdim=True)
    return functional.normalize(vectors / largest.where(largest > 0, 1))


def _in_torch(own: Lstm) -> torch.nn.LSTM:
    made = torch.nn.LSTM(own.input_dim, own.width, bidirectional=own.kind == BOTH)
    with torch.no_grad():
        for end, direction in zip(("", "_reverse"), own.directions, strict=False):
            getattr(made, f"weight_ih_l0{end}").copy_(torch.from_numpy(direction.input))
            getattr(made, f"weight_hh_l0{end}").copy_(torch.from_numpy(direction.hidden))
            getattr(made, f"bias_ih_l0{end}").copy_(torch.from_numpy(direction.bias))
            getattr(made, f"bias_hh_l0{end}").zero_().requires_grad_(False)  # one bias is enough
    return made


def _directions(lstm: torch.nn.LSTM) -> list[Direction]:
    names = ("weight_ih", "weight_hh", "bias_ih")
    ends = ("", "_reverse") if lstm.bidirectional else ("",)
    return [Direction(*(_array(getattr(lstm, f"{name}_l0{end}")) for name in names)) for end in ends]


def _array(tensor: torch.Tensor) -> np.ndarray:
    array: np.ndarray = tensor.detach().cpu().numpy()
    return array
