"""One model of a config, with all its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psp.config.blocks import ENCODER
from psp.config.corpus_entries import Part
from psp.config.variant_entries import Variant


@dataclass(frozen=True)
class Model:
    """One model's resolved entry; ``settings`` holds every key of every block."""

    name: str
    languages: tuple[str, ...]
    parts: tuple[Part, ...]
    recipe: str
    seed: int
    settings: Mapping[str, Any]
    differences: Mapping[str, Any]  # dotted key -> value that differs from the recipe's
    tuned: Mapping[str, Any]  # for each key of `train` that a search decides, the recipe's value
    variants: Mapping[str, Variant]  # by name; the first is the model's own settings
    encoder: str = ENCODER.default

    @property
    def most_rows(self) -> int:
        """The largest number of rows that the embedding matrix can have."""
        if self.encoder == ENCODER.default:
            return int(self.settings["subword"]["vocab_size"])
        return int(self.settings["vocabulary"]["size"]) + 1

    def __getitem__(self, block: str) -> Any:
        return self.settings[block]
