"""Sources of pairs: the interface of corpus kinds, and their registry.

A kind describes itself completely: how a config names its corpora, where its file comes from, how the file is read and
counted, and what it lacks. To add one, subclass :class:`CorpusKind`, register it, and import its module in
:mod:`psp.corpora.kinds`.
"""

from __future__ import annotations

import abc
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from psp.core import named
from psp.corpora.estimate import count_lines
from psp.corpora.rows import Row

_kinds: dict[str, type[CorpusKind]] = {}
T = TypeVar("T", bound="type[CorpusKind]")


class CorpusKind(abc.ABC):
    """A kind of corpus; its classes are used, not instances."""

    #: Its name: in reports, and for a kind of the catalogue in the config (``corpora.<name>.kind``).
    kind: ClassVar[str]
    #: The keys of an item of ``corpora`` of this kind (:class:`psp.config.blocks.corpora.CorpusItem` them); the first
    #: names its file.
    item: ClassVar[tuple[str, ...]] = ()
    #: Those keys that name further files.
    further_files: ClassVar[tuple[str, ...]] = ()
    #: What errors call an item of this kind, such as "a file of pairs, `path`".
    called: ClassVar[str] = ""
    #: Suffixes of its files, besides those of compression, which a corpus's own name leaves out.
    endings: ClassVar[tuple[str, ...]] = ()
    #: Whether each pair of languages has an archive, so that entries have settings by pair.
    by_pair: ClassVar[bool] = False
    #: Whether both sides are in one language, unless an item says otherwise.
    in_one_language: ClassVar[bool] = False
    #: Whether it holds sentences, each a pair with itself.
    is_text: ClassVar[bool] = False
    #: What errors call such corpora if they never have scores; None if they may have them.
    without_scores: ClassVar[str | None] = None
    #: The stage that makes its pairs from other corpora, if one does; an item of ``corpora`` has the first of the keys
    #: ``makes``, or another.
    made_by: ClassVar[str | None] = None
    makes: ClassVar[tuple[str, ...]] = ()

    @classmethod
    def download(cls, name: str, version: str | None, pair: str) -> str | None:
        """The file's name under results/downloads; None if it is the user's own, or made from other corpora."""
        return None

    @classmethod
    def placeholders(cls, file: str) -> dict[str, str]:
        """What a mirror's address may have in braces, from the file's name after its kind's folder: the ``corpus``, its
        ``version``, and if there are archives by pair, the ``pair``."""
        raise NotImplementedError(f"corpora of the kind {cls.kind} are not downloaded")

    @classmethod
    def names(cls, item: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
        """What the reader has to know of an item: by default what the catalogue calls the two languages."""
        return names

    @classmethod
    @abc.abstractmethod
    def read(cls, path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
        """Yield its rows in order, unmodified, with a bad row for each malformed one; as
        :func:`psp.corpora.open_corpus`, which limits their number.

        Raises:
            DataError: the file is missing, damaged, or of another layout; possibly after rows were yielded.
            PspError: a package is missing.
        """

    @classmethod
    def told(cls, report: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        """The number of pairs that the stage made, and its entry in data.json, from its report."""
        raise NotImplementedError(f"pairs of the kind {cls.kind} are not made from others")

    @classmethod
    def count(cls, path: Path, corpus: str, names: tuple[str, ...]) -> tuple[int, bool]:
        """The number of pairs, and whether it is exact; by default the number of lines, estimated from a sample.

        Raises:
            DataError: as :meth:`read`.
            PspError: a package is missing.
        """
        return count_lines(path, suffixes=(".txt", *(f".{ending}" for ending in cls.endings)))


def register(kind: T) -> T:
    """Register a kind of corpus by name; a class decorator.

    Raises:
        ValueError: another class has this name, or names its file by the same key.
    """
    key = next(iter(kind.item), None)
    for other in _kinds.values():
        if key is not None and other.kind != kind.kind and next(iter(other.item), None) == key:
            raise ValueError(f"{key!r} is already the key of corpora of the kind {other.kind}")
    named.add(_kinds, kind.kind, kind)
    return kind


def registered() -> list[type[CorpusKind]]:
    """The kinds registered so far."""
    return list(_kinds.values())


def of_kind(kind: str) -> type[CorpusKind]:
    """The class of a kind of corpus.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in _kinds:
        raise ValueError(f"unknown kind of corpus {kind}; available: {', '.join(_kinds)}")
    return _kinds[kind]
