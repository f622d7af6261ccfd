"""The kinds of models beside :class:`psp.models.model.Model` as people load them; imported where a folder has one."""

from __future__ import annotations

from psp.models.combined import CombinedModel
from psp.models.model import Model, Public
from psp.models.transformer import TransformerModel


@Model.register
class Combination(Public, CombinedModel):
    """Models joined, as people load them: :class:`psp.models.combined.CombinedModel`."""

    _part_class = Model


@Model.register
class Transformer(Public, TransformerModel):
    """A transformer, as people load it: :class:`psp.models.transformer.TransformerModel`."""
