"""The interface of the evaluation tasks that a config adds under ``evaluate.tasks``, and their registry.

A task reads one published test set (or the user's own files in that layout) and scores a system on it. Each figure has
a 95% interval from the bootstrap over the set's items: resamples depend only on the task's name and the seed, so two
systems are compared on the same resamples. What tells a set from another is the task's kind, its settings but the
paths, and its files.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from psp.core.errors import ConfigError, DataError
from psp.core.files import sha256
from psp.core.settings import Setting
from psp.evaluation import bootstrap
from psp.evaluation.scorers import Floats, Scorer
from psp.text.lines import read_lines


@dataclass(frozen=True)
class Figure:
    """A score: its value, its value in each resample, and why it is undefined, if it is.

    Attributes:
        value: in the unit that the task's ``figures`` gives; None if undefined.
        resampled: float64 (resamples,), NaN where undefined in a resample; None for no interval.
        why: the reason for None.
    """

    value: float | None
    resampled: Floats | None = None
    why: str | None = None

    @property
    def report(self) -> dict[str, Any]:
        """``value`` and ``interval``, rounded, and ``why`` if the value is None."""
        if self.value is None:
            return {"value": None, "interval": None, "why": self.why}
        interval = None if self.resampled is None else bootstrap.interval(self.resampled)
        return {"value": round(self.value, 4), "interval": interval}


@dataclass(frozen=True)
class Part:
    """The scores on one part of a test set, such as one direction of retrieval.

    Attributes:
        items: how many the bootstrap draws from.
        figures: by name.
        further: what else is worth knowing.
        own_items: whether the items depend on the system, as those of mining do: two systems' resamples are then not
            of the same items, and their differences have no interval.
    """

    items: int
    figures: Mapping[str, Figure]
    further: Mapping[str, Any]
    own_items: bool = False

    @property
    def report(self) -> dict[str, Any]:
        """``items``, ``figures``, and ``further``: what else is worth knowing (a threshold, a count)."""
        figures = {name: one.report for name, one in self.figures.items()}
        return {"items": self.items, "figures": figures, "further": dict(self.further)}


@dataclass(frozen=True)
class Draw:
    """The bootstrap's settings: how many resamples, their seed, and the name that tells sets apart."""

    resamples: int
    seed: int
    name: str

    def counts(self, items: int, part: str = "") -> bootstrap.Counts:
        """How often each item occurs in each resample: uint16 (resamples, items)."""
        return bootstrap.resample_counts(items, self.resamples, self.seed, f"tasks/{self.name}/{part}")

    def mean(self, values: Floats, part: str = "") -> Figure:
        """The mean of a value per item, float64 (items,), and its resamples."""
        return Figure(float(values.mean()), self.counts(len(values), part) @ values / len(values))


class Task(ABC):
    """A test set and its protocol.

    Args:
        settings: the task's entry in the config; missing keys take their defaults.
        place: the entry's name in errors, such as ``evaluate.tasks.ntrex``.

    Raises:
        ConfigError: a setting is missing, unknown or has a value that is not allowed.
    """

    kind: ClassVar[str]
    """The value of ``task`` that names it."""
    help: ClassVar[str]
    """What it measures, in a few words."""
    declared: ClassVar[Mapping[str, Setting]]
    """The keys of an entry, ``task`` aside."""
    figures: ClassVar[Mapping[str, str]]
    """Each figure and what it is; the first is the main one. Errors are in %, and so is all that is a share;
    correlations are times 100."""
    lower_is_better: ClassVar[frozenset[str]] = frozenset()
    """The figures of which less is better."""
    PATHS: ClassVar[frozenset[str]] = frozenset({"path", "train", "dev", "source", "target"})
    """The keys that are paths, in every task that has them: they tell where a set lies, not which one it is."""
    classes: ClassVar[dict[str, type[Task]]] = {}

    def __init_subclass__(cls) -> None:
        Task.classes[cls.kind] = cls

    def __init__(self, settings: Mapping[str, Any], place: str = "task") -> None:
        self.place = place
        for key in settings:
            if key not in self.declared and key != "task":
                raise ConfigError(f"{place}.{key}: unknown key; {self.kind} has {', '.join(self.declared)}")
        self.settings = {key: settings.get(key, setting.default) for key, setting in self.declared.items()}
        for key, value in self.settings.items():
            setting = self.declared[key]
            if not setting.allows(value):
                if key not in settings:
                    raise ConfigError(f"{place}: {key} is missing ({setting.help})")
                raise ConfigError(f"{place}.{key}: {value!r} must be {setting.allowed}")

    def path(self, key: str) -> Path:
        """A setting that is a path, one of :data:`PATHS`, with ``~/`` and ``${VARIABLE}`` expanded."""
        assert key in self.PATHS, key
        return Path(os.path.expandvars(self.settings[key])).expanduser()

    @abstractmethod
    def files(self) -> list[Path]:
        """The files that it reads, in a fixed order."""

    def checksums(self) -> list[dict[str, str]]:
        """``name`` and ``sha256`` of each file that it reads, in the order of :meth:`files`.

        Raises:
            DataError: one cannot be read.
        """
        found = []
        for path in self.files():
            try:
                found.append({"name": path.name, "sha256": sha256(path)})
            except OSError as error:
                raise DataError(f"cannot be read: {error.strerror}", path) from None
        return found

    @abstractmethod
    def sentences(self) -> Iterator[str]:
        """The sentences that a system is scored on, for their overlap with training data.

        Raises:
            DataError: a file is missing or malformed (file and line are named).
        """

    @abstractmethod
    def score(self, scorer: Scorer, draw: Draw) -> dict[str, Part]:
        """Score a system: the task's parts by name.

        Raises:
            DataError: as :meth:`sentences`.
            Unsupported: the system lacks what the task needs.
        """


class Unsupported(Exception):
    """A system that cannot do a task, and why; the evaluation skips it and says so."""


def names() -> list[str]:
    """The kinds of tasks, sorted."""
    return sorted(Task.classes)


def make(settings: Mapping[str, Any], place: str = "task") -> Task:
    """The task of a config's entry.

    Raises:
        ConfigError: ``task`` is missing or names none; or as :class:`Task`.
    """
    kind = settings.get("task")
    if kind not in Task.classes:
        raise ConfigError(f"{place}.task: {kind!r} must be one of {', '.join(names())}")
    return Task.classes[kind](settings, place)


def lines(path: Path | str, encoding: str = "utf-8") -> list[str]:
    r"""Read a test set's lines, ending in ``\n`` or ``\r\n``, with or without a byte-order mark.

    Raises:
        DataError: the file cannot be read, is not in the encoding, or has no lines.
    """
    path = Path(path)
    try:
        with path.open("rb") as stream:
            found = [line.rstrip("\r") for line in _decoded(stream, path, encoding)]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    if not found:
        raise DataError("is empty", path)
    found[0] = found[0].removeprefix("\ufeff")
    return found


def _decoded(stream: BinaryIO, path: Path, encoding: str) -> Iterator[str]:
    if encoding == "utf-8":
        yield from read_lines(stream, path)
        return
    for number, line in enumerate(stream, start=1):
        try:
            yield line.rstrip(b"\n").decode(encoding)
        except UnicodeDecodeError as error:
            raise DataError(f"not {encoding} (a byte {line[error.start]:#04x})", path, number) from None


def columns(
    path: Path, wanted: Sequence[str | int], *, header: bool, at_least: int | None = None, encoding: str = "utf-8"
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line numbers and chosen columns of a tab-separated file; quotation marks are part of the text.

    Args:
        path: the file.
        wanted: names (with a header) or numbers of columns.
        header: whether the first line names the columns.
        at_least: how many columns a line must have; default: as many as the header, or as ``wanted`` needs.
        encoding: of the file.

    Raises:
        DataError: as :func:`lines`; the header lacks a column, or a line has too few.
    """
    rows = lines(path, encoding)
    places, number = [], 1
    if header:
        known = rows.pop(0).split("\t")
        if missing := [name for name in wanted if name not in known]:
            raise DataError(f"the header has no column {', '.join(map(repr, missing))}: {' | '.join(known)}", path, 1)
        places, number = [known.index(str(name)) for name in wanted], 2
    else:
        places = [int(one) for one in wanted]
    least = max(places) + 1 if at_least is None else at_least
    for line, row in enumerate(rows, start=number):
        cells = row.split("\t")
        if len(cells) < least:
            raise DataError(f"{len(cells)} columns instead of {least}, separated by tabs", path, line)
        yield line, [cells[place] for place in places]


def sentence(text: str, path: Path, line: int) -> str:
    """A sentence that is not empty.

    Raises:
        DataError: it is.
    """
    if not text.strip():
        raise DataError("an empty sentence", path, line)
    return text


def embedded(scorer: Scorer, texts: Sequence[str]) -> Floats:
    """A system's vectors, float64 (texts, dim), which some tasks need beside similarities.

    Raises:
        Unsupported: it has none, as word overlap has none.
    """
    vectors = getattr(scorer, "vectors", None)
    if vectors is None:
        raise Unsupported("the system compares texts but has no vectors")
    found: Floats = vectors(texts)
    return found
