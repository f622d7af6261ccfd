"""One model of a config, with all its settings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psp.config.blocks import ENCODER
from psp.config.corpus_entries import Part
from psp.config.variant_entries import Variant
from psp.models.lstm import KINDS as LSTMS
from psp.text.tokenizer import Tokenizer
from psp.text.tokenizer_kinds import kinds, of_kind


def tokens(encoder: str, settings: Mapping[str, Any]) -> str:
    """What the tokenizer of a model with such an encoder splits text into, by the model's blocks."""
    return str(settings["lstm"]["over"]) if encoder in LSTMS else encoder


def unspelled(encoder: str) -> str | None:
    """Why a model with such an encoder cannot start from the spelling of its pieces; None if it can."""
    return of_kind(encoder).unspelled if encoder in kinds() else None


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
    combined: tuple[tuple[str, float], ...] = ()  # the models that it joins, with their weights, if it is a combination
    base: str | None = None  # of a transformer: what training begins with
    joint: Mapping[str, Any] | None = None  # a combination trained together: as psp.training.loop.train takes encoders

    @property
    def files(self) -> tuple[Part, ...]:
        """The corpora that are read from files: its own, and the bitext that others are made from."""
        read = [source for part in self.parts for source in part.sources or (part,)]
        return tuple({(part.label, part.path): part for part in read}.values())

    @property
    def tokens(self) -> str:
        """What its tokenizer splits text into: subword, word or trigram; "transformer" if that is the base's matter."""
        return tokens(self.encoder, self.settings)

    @property
    def tokenizer(self) -> type[Tokenizer]:
        """The kind of its tokenizer; not of a transformer, nor of a combination."""
        return of_kind(self.tokens)

    @property
    def sequence(self) -> dict[str, Any] | None:
        """The settings of its encoder, as :func:`psp.training.loop.train` takes them; None for a mean."""
        if self.joint is not None:
            return dict(self.joint)
        if self.encoder not in LSTMS:
            return None
        return {"kind": self.encoder, **{key: value for key, value in self.settings["lstm"].items() if key != "over"}}

    @property
    def most_rows(self) -> int:
        """The largest number of rows that the embedding matrix can have."""
        if self.tokenizer.block == "subword":
            return int(self.settings["subword"]["vocab_size"])
        return int(self.settings["vocabulary"]["size"]) + 1

    def __getitem__(self, block: str) -> Any:
        return self.settings[block]
