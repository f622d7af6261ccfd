"""Encoders trained together: one loss for the joined vectors of several, over vocabularies of their own.

ParaNMT-50M (Wieting & Gimpel 2018, section 4) trains its combinations this way, by concatenation or addition. The
trained model is a :class:`psp.models.combined.CombinedModel`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from psp.config.blocks.training import OF_PART, TrainSettings
from psp.core.errors import ConfigError
from psp.core.files import sha256
from psp.models import WEIGHTS
from psp.models.combined import ADD, CombinedModel, checked_weights
from psp.pairs.encoded_pairs import ChangedPairs, PairSource
from psp.text.parts_tokenizer import divided
from psp.text.tokenizer import Encoded, Tokenizer
from psp.training.encoders import make_encoder
from psp.training.encoders.base import Encoder
from psp.training.initial import initial_table
from psp.training.optimiser import JointOptimiser, RowOptimiser


def joint_encoder(
    tokenizer: Tokenizer,
    pairs: PairSource,
    settings: TrainSettings,
    own: Mapping[str, Any],
    device: torch.device,
) -> tuple[JointEncoder, RowOptimiser]:
    """Make the encoder and its optimiser.

    Args:
        tokenizer: of the parts.
        pairs: the training pairs, whose counts ``init: zipf`` scales embeddings by.
        settings: of the training.
        own: ``kind`` ("joint"), ``join`` ("concat" or "add"), ``scaled``, ``weights`` and ``parts``: for each its
            ``encoder`` (as of
            :class:`psp.training.loop.Training`), ``init_from``, the folder of a model or None, and the
            keys :data:`psp.config.blocks.training.OF_PART`.
        device: where its weights are.

    Raises:
        ConfigError: the parts do not fit the tokenizer, or one another.
    """
    if len(tokenizer.parts) != len(own["parts"]):
        raise ConfigError(f"train.encoder: {len(own['parts'])} parts need as many vocabularies")
    made = []
    for number, (part, one) in enumerate(zip(tokenizer.parts, own["parts"], strict=True)):
        # A seed of its own: otherwise two parts would draw the same noise at the same places.
        chosen = {key: one[key] for key in OF_PART} | {"seed": settings.seed + number}
        mine = settings.but(**chosen)
        start = one.get("init_from")
        table, _ = initial_table(
            part, mine, None if start is None else Path(start), part_of(pairs, tokenizer.starts, number)
        )
        made.append(make_encoder(table.to(device), mine.as_dict(), one["encoder"]))
    encoder = JointEncoder([one for one, _ in made], tokenizer.starts, own["join"], own["weights"], own["scaled"])
    return encoder, JointOptimiser([optimiser for _, optimiser in made])


def started_from(own: Mapping[str, Any]) -> list[str | None]:
    """SHA-256 of the initial weights of each part; None for a part without any."""
    starts = [one.get("init_from") for one in own["parts"]]
    return [start and sha256(Path(start) / WEIGHTS) for start in starts]


class JointEncoder(torch.nn.Module):
    """Encoders side by side.

    Args:
        parts: two or more; with ``add``, all of the same dimension.
        starts: the first id of each part, and the number of all ids.
        join: ``concat`` or ``add``.
        weights: of each part in a cosine, if ``scaled``.
        scaled: whether each part's vector is scaled to length 1, and multiplied by the root of its weight, before they
            are concatenated. Without it, longer vectors dominate, as in the paper.
    """

    def __init__(
        self, parts: Sequence[Any], starts: Sequence[int], join: str, weights: Sequence[float], scaled: bool
    ) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)
        self._starts, self._join, self._scaled = list(starts), join, scaled
        self._weights = checked_weights(weights, len(parts))

    def encode(self, sentences: Encoded) -> Tensor:
        with torch.no_grad():
            own = divided(sentences, self._starts)
            return self._joined([part.encode(ids) for part, ids in zip(self._encoders(), own, strict=True)])

    def forward(self, sentences: Encoded, step: int) -> Tensor:
        own = divided(sentences, self._starts)
        return self._joined([part(ids, step) for part, ids in zip(self.parts, own, strict=True)])

    def _encoders(self) -> list[Encoder]:
        return list(self.parts)  # type: ignore[arg-type]

    def _joined(self, vectors: Sequence[Tensor]) -> Tensor:
        if self._join == ADD:
            return torch.stack(list(vectors)).sum(dim=0)
        if self._scaled:
            pairs = zip(vectors, self._weights, strict=True)
            vectors = [functional.normalize(vector, dim=1) * math.sqrt(weight) for vector, weight in pairs]
        return torch.cat(list(vectors), dim=1)

    def embedder(self, tokenizer: Tokenizer, config: Mapping[str, Any]) -> CombinedModel:
        parts = [part.embedder(one, config) for part, one in zip(self._encoders(), tokenizer.parts, strict=True)]
        return CombinedModel(parts, self._weights, join=self._join, scaled=self._scaled)  # type: ignore[arg-type]

    def save(
        self, folder: Path, weights: Mapping[str, Tensor], tokenizer: Tokenizer, config: Mapping[str, Any]
    ) -> None:
        """Write the folder; afterwards the encoder has these weights."""
        self.load_state_dict(weights)
        self.embedder(tokenizer, config).save(folder, card=False)


def part_of(pairs: PairSource, starts: Sequence[int], number: int) -> PairSource:
    """Pairs with the ids of one part only."""
    own = starts[number : number + 2]
    return ChangedPairs(
        pairs,
        lambda block, _: block._replace(source=divided(block.source, own)[0], target=divided(block.target, own)[0]),
    )
