"""All kinds of models of a config."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from psp.config.combination_entries import CombinationEntry, JointEntry
from psp.config.model import EntryKind
from psp.config.trained_entries import TableEntry
from psp.config.transformer_entries import TransformerEntry

KINDS: tuple[EntryKind, ...] = (TableEntry(), TransformerEntry(), CombinationEntry(), JointEntry())


def of_entry(entry: Mapping[str, Any]) -> EntryKind:
    """The kind of a model's entry, which the config's schema has checked."""
    return next(kind for kind in KINDS if kind.fits(entry))
