"""Items of a model's ``corpora`` whose pairs are made from other corpora: the interface of their kinds.

Each kind is a subclass in a file of its own, imported in :mod:`psp.config.written`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from psp.config.blocks.corpora import KINDS
from psp.config.corpus_entries import CorpusSpec

#: Share of the pairs that is left after the filters and deduplication, for `psp plan`.
KEPT = 0.94
#: The same of a corpus whose scores are filtered: ParaNMT in the paper of P-SP, 25.85M of 50M pairs.
SCORED = 0.517


@dataclass(frozen=True)
class Asking:
    """The model of an item, and access to the rest of its config.

    Attributes:
        model, languages, recipe: the model's name, languages and recipe.
        settings: its blocks.
        written: the part of ``filters`` that the config itself sets.
        catalogue: the config's ``corpora``.
        parts_of: resolves the corpora of another model.
        translator: resolves a translator of the config (:class:`psp.config.translator_entries.TranslatorEntry`).
        circular: whether an encoder is trained on the pairs of this model.
        where: the item's location, for errors, such as ``models.fr.corpora``.
    """

    model: str
    languages: tuple[str, ...]
    recipe: str
    settings: Mapping[str, Any]
    written: Mapping[str, Any]
    catalogue: Mapping[str, Mapping[str, Any]]
    parts_of: Callable[[str], Iterable[CorpusSpec]]
    translator: Callable[[str], Any]
    circular: Callable[[str], bool]
    where: str


class Made(ABC):
    """A kind of corpora that are made from others.

    Attributes:
        kind: that of what its stage writes (:data:`psp.config.blocks.corpora.KINDS`).
        block: the block of the config with that stage's settings.
    """

    kind: str
    block: str

    @abstractmethod
    def resolve(self, item: Mapping[str, Any], asking: Asking) -> CorpusSpec:
        """Resolve an item.

        Raises:
            ConfigError: it is incomplete, or does not fit its model.
        """

    @abstractmethod
    def own(self, part: CorpusSpec) -> Mapping[str, Any]:
        """A corpus's settings of ``block``."""

    def filters(self, settings: Mapping[str, Any]) -> Mapping[str, Any]:
        """The block ``filters`` of such corpora, without the config's own settings."""
        filters: Mapping[str, Any] = settings["filters"]
        return filters

    @abstractmethod
    def planned(self, part: CorpusSpec, known: Mapping[str, int | None]) -> float:
        """About how many pairs are trained on, by the numbers of pairs of files, for ``psp plan``."""


_BY_KIND: dict[str, Made] = {}


def register(kind: type[Made]) -> type[Made]:
    """Add a kind of corpora that are made from others; a decorator of its class."""
    _BY_KIND[kind.kind] = kind()
    return kind


def made_as(item: str | Mapping[str, Any]) -> Made | None:
    """The kind of an item of ``corpora`` whose pairs are made; None for one whose pairs are in a file."""
    if isinstance(item, str):
        return None
    return next((made for made in _BY_KIND.values() if any(key in item for key in KINDS[made.kind].makes)), None)


def making(part: CorpusSpec) -> Made | None:
    """As :func:`made_as`, for a resolved corpus."""
    return _BY_KIND.get(part.kind)


def of_files(part: CorpusSpec, known: Mapping[str, int | None]) -> int:
    """The numbers of pairs of the files that a corpus consists of or is made from."""
    return sum(known[source.path or source.download or ""] or 0 for source in part.sources or (part,))
