"""One model of a config, with all its settings, and the interface of the kinds of models."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psp.config.blocks.entries import DEFAULT_ENCODER
from psp.config.blocks.training import LSTMS
from psp.config.blocks.vocabulary import PIECES, PieceKind
from psp.config.corpus_entries import CorpusSpec
from psp.config.variant_entries import VariantEntry
from psp.text import normalisation_name


def unspelled(encoder: str) -> str | None:
    """Why a model with this encoder cannot start from the spelling of its pieces; None if it can."""
    return PIECES[encoder].unspelled if encoder in PIECES else None


class ModelKind(ABC):
    """A kind of models, or of what goes through the same stages.

    Attributes:
        called: what such a model is, such as "a transformer".
        block: the block with the settings of its training; None if it is not trained.
        joins: whether it joins other models, trained apart or together.
        stores: whether it is trained on ids in a store, and so has a vocabulary, rather than on the text itself.
        has_every_block: whether it has all blocks of settings, so that its entry can be written out in full.
        there_is: the files that may be requested in its folder of results; None = all.
    """

    called: str
    block: str | None
    joins: bool
    stores: bool
    has_every_block = False
    there_is: re.Pattern[str] | None

    @abstractmethod
    def files(self, model: ModelEntry) -> list[str]:
        """The names of the files in its folder that its rule names as output, config.json first."""

    def refusal(self, model: ModelEntry) -> str:
        """The message, after its name, about a requested file that is not in ``there_is``."""
        raise NotImplementedError(f"{self.called} has everything")

    def absent(self, model: ModelEntry) -> str | None:
        """The message about a missing file that only a model of this kind needs."""
        return None


class EntryKind(ModelKind):
    """A kind of entries of ``models``: a subclass in a file of its own, listed in :mod:`psp.config.model_kinds`."""

    @abstractmethod
    def rule(self, model: ModelEntry) -> str:
        """The name of the rule that makes it; models of one rule have the same files."""

    @abstractmethod
    def fits(self, entry: Mapping[str, Any]) -> bool:
        """Whether a model's entry, with what it extends, is of this kind."""

    @abstractmethod
    def resolve(self, config: Any, name: str, entry: Mapping[str, Any]) -> ModelEntry:
        """Resolve a model.

        Args:
            config: a :class:`psp.config.written.Written`.
            name, entry: the model, and its entry with what it inherits.

        Raises:
            ConfigError: the entry is wrong.
        """

    def differences(self, config: Any, model: ModelEntry) -> dict[str, Any]:
        """Settings that change a model and differ from its recipe's, by dotted key, except those its grid decides."""
        return {}


@dataclass(frozen=True)
class ModelEntry:
    """One model's resolved entry; ``settings`` holds every key of every block."""

    of: ModelKind
    name: str
    languages: tuple[str, ...]
    parts: tuple[CorpusSpec, ...]
    recipe: str
    seed: int
    settings: Mapping[str, Any]
    differences: Mapping[str, Any]  # dotted key -> value that differs from the recipe's
    tuned: Mapping[str, Any]  # for each key of `train` that the best point of its grid decides, the recipe's value
    variants: Mapping[str, VariantEntry]  # by name; the first is the model's own settings
    encoder: str = DEFAULT_ENCODER
    combined: tuple[tuple[str, float], ...] = ()  # the models that it joins, with their weights, if it is a combination
    base: str | None = None  # of a transformer: what training begins with
    joint: Mapping[str, Any] | None = None  # trained together: as psp.training.loop.Training takes encoders

    @property
    def files(self) -> tuple[CorpusSpec, ...]:
        """The corpora that are read from files: its own, and the bitext that others are made from."""
        read = [source for part in self.parts for source in part.sources or (part,)]
        return tuple({(part.label, part.path): part for part in read}.values())

    @property
    def points(self) -> dict[str, Mapping[str, Any]]:
        """The block ``train`` of each point of its grid, by the point's name."""
        return {name: one.train for name, one in self.variants.items() if one.point is not None}

    @property
    def tokens(self) -> str:
        """Its tokenizer's units: subword, word or trigram; "transformer" if the base decides."""
        return str(self["lstm"]["over"]) if self.encoder in LSTMS else self.encoder

    @property
    def pieces(self) -> PieceKind:
        """The kind of its pieces; not for a transformer or a combination."""
        return PIECES[self.tokens]

    @property
    def folds_arabic(self) -> bool:
        """Whether it folds Arabic's letters."""
        arabic = self.settings["subword"]["arabic"]
        return bool(arabic == "folded" or (arabic == "auto" and "ar" in self.languages))

    @property
    def normalisation(self) -> str | None:
        """The normalisation of its text, in training and in use; None if a sentencepiece model's is the only one."""
        return (
            normalisation_name(visible=True, arabic=self.folds_arabic)
            if self.settings["filters"]["normalise"]
            else None
        )

    @property
    def contextual(self) -> dict[str, Any] | None:
        """The settings of its encoder, as :class:`psp.training.loop.Training` takes them; None for a mean."""
        if self.joint is not None:
            return dict(self.joint)
        if self.encoder not in LSTMS:
            return None
        return {"kind": self.encoder, **{key: value for key, value in self["lstm"].items() if key != "over"}}

    @property
    def most_rows(self) -> int:
        """The largest number of rows that the embedding matrix can have."""
        return self.pieces.most(self.settings)

    def __getitem__(self, block: str) -> Any:
        return self.settings[block]
