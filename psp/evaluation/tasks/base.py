"""The interface of evaluation tasks, standard ones and those that a config adds, and their registry.

A task reads one published test set (or the user's own files in that layout) and scores a system on it. Each metric has
a 95% interval from the bootstrap over the set's items: resamples depend only on the task's name and the seed, so two
systems are compared on the same resamples. A set is identified by the task's kind, its settings without the paths, and
its files.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

from psp.config.blocks.base import Block
from psp.core import named, user_code
from psp.core.errors import ConfigError, DataError
from psp.core.files import sha256
from psp.evaluation import bootstrap
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.testsets import StsSet, read_text

#: Units of metrics: a correlation, times 100; a share or an error rate, in %.
CORRELATION, PERCENT = "correlation x 100", "%"


class Measure(NamedTuple):
    """What a metric is.

    Attributes:
        help: in a few words.
        unit: :data:`CORRELATION` or :data:`PERCENT`.
        higher_is_better: false for errors.
        label: its name in tables; "" = its key.
        compared: whether systems are compared by it; if not, it is only shown.
    """

    help: str
    unit: str
    higher_is_better: bool = True
    label: str = ""
    compared: bool = True


@dataclass(frozen=True)
class Metric:
    """A score: its value, its value in each resample, and why it is undefined, if it is.

    Attributes:
        value: in the unit of its measure; None if undefined.
        resampled: float64 (resamples,), NaN where undefined in a resample; None for no interval.
        why: the reason for None.
        interval: its 95% interval, if that is not the percentiles of ``resampled``.
        items: how many it is over, if not all of its part.
    """

    value: float | None
    resampled: Floats | None = None
    why: str | None = None
    interval: list[float] | None = None
    items: int | None = None

    @property
    def report(self) -> dict[str, Any]:
        """``value`` and ``interval``, rounded, ``why`` if the value is None, and ``items`` if they are its own."""
        own = {} if self.items is None else {"items": self.items}
        if self.value is None:
            return {"value": None, "interval": None, "why": self.why, **own}
        interval = self.interval
        if interval is None and self.resampled is not None:
            interval = bootstrap.interval(self.resampled)
        return {"value": round(self.value, 4), "interval": interval, **own}


@dataclass(frozen=True)
class Part:
    """The scores on one part of a test set, such as one direction of retrieval.

    Attributes:
        items: how many the bootstrap draws from.
        metrics: by name.
        further: other facts worth knowing.
        own_items: whether the items depend on the system, as those of mining do: two systems' resamples are then not
            of the same items, and their differences have no interval.
        test: what people call it; "" = the task's name and its own.
        detail: whether it is a part of another part, shown beside it but not compared.
        mean_of: the parts whose mean it is, if it is one.
        development: whether models are chosen by it, so that it is not a test.
    """

    items: int
    metrics: Mapping[str, Metric]
    further: Mapping[str, Any] = field(default_factory=dict)
    own_items: bool = False
    test: str = ""
    detail: bool = False
    mean_of: Sequence[str] = ()
    development: bool = False

    @property
    def report(self) -> dict[str, Any]:
        """``items``, ``figures`` and ``further``."""
        figures = {name: metric.report for name, metric in self.metrics.items()}
        return {"items": self.items, "figures": figures, "further": dict(self.further)}

    def described(self, measures: Mapping[str, Measure]) -> dict[str, Any]:
        """As :attr:`report`, with a description of each metric and further facts about the part."""
        further = {
            "test": self.test, "detail": self.detail, "mean_of": list(self.mean_of), "development": self.development,
        }  # fmt: skip
        report = self.report
        for name, figure in report["figures"].items():
            measure = measures[name]
            figure["label"], figure["unit"] = measure.label or name, measure.unit
            figure["higher_is_better"] = measure.higher_is_better
            if not measure.compared:
                figure["compared"] = False
        return report | {key: value for key, value in further.items() if value}


@dataclass(frozen=True)
class BootstrapSpec:
    """The bootstrap's settings.

    Attributes:
        resamples, seed: how many, and from which random numbers.
        name: the task's, so that its draws differ from those of other tasks.
    """

    resamples: int
    seed: int
    name: str

    def counts(self, items: int, part: str = "") -> bootstrap.Counts:
        """The count of each item in each resample: uint16 (resamples, items)."""
        return bootstrap.resample_counts(items, self.resamples, self.seed, f"tasks/{self.name}/{part}")

    def counts_of_set(self, items: int, name: str) -> bootstrap.Counts:
        """As :meth:`counts`, for a standard set, independent of the task's name."""
        return bootstrap.resample_counts(items, self.resamples, self.seed, name)

    def mean(self, values: Floats, part: str = "") -> Metric:
        """The mean of a value per item, float64 (items,), and its resamples."""
        return Metric(float(values.mean()), self.counts(len(values), part) @ values / len(values))


@dataclass(frozen=True)
class Sources:
    """The inputs of the standard tasks.

    Attributes:
        languages: the model's.
        sts: the archive or folder of STS sets; None if not wanted, or without sets in these languages.
        tatoeba: by language its two files (its side, the English side).
        files: the user's own STS sets, by name.
    """

    languages: Sequence[str]
    sts: str | None = None
    tatoeba: Mapping[str, Sequence[str]] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)


class Task(ABC):
    """A test set and its protocol.

    Args:
        settings: the task's entry in the config; missing keys take their defaults.
        place: the entry's name in errors, such as ``evaluate.tasks.ntrex``.

    Raises:
        ConfigError: a setting is missing, unknown or has a value that is not allowed.
    """

    kind: str = ""
    """The value of ``task`` that names it; psp's own tasks declare it, and one's own get it from the config."""
    help: ClassVar[str]
    """What it measures, in a few words."""
    Settings: ClassVar[type[Block]] = Block
    """The keys of an entry besides ``task``."""
    metrics: ClassVar[Mapping[str, Measure]]
    """Each metric and what it is; the first is the main one."""
    paths: ClassVar[frozenset[str]] = frozenset({"path"})
    """The keys that are paths: they locate a set but do not identify it."""
    order: ClassVar[int] = 100
    """Its position among the tasks of a model."""
    chosen_by: ClassVar[str | None] = None
    """The name, in :data:`psp.evaluation.metrics.OF_PAIRS`, of the metric by which models can be chosen on its scored
    pairs (the block ``development``); None if it has none."""
    classes: ClassVar[dict[str, type[Task]]] = {}

    def __init_subclass__(cls) -> None:
        if vars(cls).get("kind"):  # not the base class of several tasks, nor one's own
            named.add(Task.classes, cls.kind, cls)

    def __init__(self, settings: Mapping[str, Any], place: str = "task") -> None:
        self.place, self.kind = place, settings.get("task", self.kind)
        #: Filled by scoring: the checksums of sets that may be published ones (:mod:`psp.text.published_sets`), and
        #: the sets that its files lack, each with the reason.
        self.sums: dict[str, str] = {}
        self.missing: list[tuple[str, str]] = []
        own = {key: value for key, value in settings.items() if key != "task"}
        self.Settings.at(place, own)
        self.settings = {**self.Settings.defaults(), **own}

    def path(self, key: str) -> Path:
        """A setting that is a path, one of :attr:`paths`, with ``~/`` and ``${VARIABLE}`` expanded."""
        assert key in self.paths, key
        return expanded(self.settings[key])

    @classmethod
    def by_default(cls, sources: Sources) -> Mapping[str, Any] | None:
        """The settings with which every model is scored on it, under its kind's name, if the sources have its sets."""
        return None

    @classmethod
    def skipped(cls, sources: Sources) -> Iterator[tuple[str, str]]:
        """Sets of :meth:`by_default` that these sources cannot be scored on, each with the reason."""
        return iter(())

    @abstractmethod
    def files(self) -> list[Path]:
        """The files that it reads, in a fixed order."""

    def checksums(self) -> list[dict[str, str]]:
        """``name`` and ``sha256`` of each file that it reads, in the order of :meth:`files`.

        Raises:
            DataError: one cannot be read.
        """
        digests = []
        for path in self.files():
            try:
                digests.append({"name": path.name, "sha256": sha256(path)})
            except OSError as error:
                raise DataError(f"cannot be read: {error.strerror}", path) from None
        return digests

    @abstractmethod
    def sentences(self) -> Iterator[str]:
        """The sentences that a system is scored on, for their overlap with training data.

        Raises:
            DataError: a file is missing or malformed (file and line are named).
        """

    def judged(self) -> StsSet:
        """All its scored pairs as one set, if they can choose models (:attr:`chosen_by`).

        Raises:
            DataError: as :meth:`sentences`.
        """
        raise NotImplementedError

    @abstractmethod
    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
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


def choosing() -> list[str]:
    """The kinds of tasks by whose sets models can be chosen, sorted."""
    return sorted(kind for kind, task in Task.classes.items() if task.chosen_by)


def of_every_model() -> list[type[Task]]:
    """The kinds of tasks that every model is scored on, in their order."""
    kinds = [kind for kind in Task.classes.values() if kind.by_default.__func__ is not Task.by_default.__func__]  # type: ignore[attr-defined]
    return sorted(kinds, key=lambda kind: (kind.order, kind.kind))


def by_default(sources: Sources) -> dict[str, Mapping[str, Any]]:
    """The settings of the tasks that every model with these sources is scored on, by name, in their order."""
    entries: dict[str, Mapping[str, Any]] = {}
    for task in of_every_model():
        if (settings := task.by_default(sources)) is not None:
            entries[task.kind] = {"task": task.kind, **settings}
    return entries


def not_scored(sources: Sources) -> list[dict[str, str]]:
    """The sets that a model with these sources is not scored on, each with the reason: ``set`` and ``why``."""
    return [{"set": name, "why": why} for kind in of_every_model() for name, why in kind.skipped(sources)]


def make(settings: Mapping[str, Any], place: str = "task") -> Task:
    """The task of a config's entry.

    Raises:
        ConfigError: ``task`` is missing or names none; or as :class:`Task`.
    """
    kind = settings.get("task")
    if isinstance(kind, str) and ":" in kind:
        own: type[Task] = user_code.subclass(kind, f"{place}.task", Task)
        return own(settings, place)
    if kind not in Task.classes:
        raise ConfigError(f"{place}.task: {kind!r} must be one of {', '.join(names())}, or module:Class of your own")
    return Task.classes[kind](settings, place)


def expanded(path: str) -> Path:
    """A path of a setting, with ``~/`` and ``${VARIABLE}`` expanded."""
    return Path(os.path.expandvars(path)).expanduser()


def lines(path: Path, encoding: str = "utf-8") -> list[str]:
    """Read a test set's lines, as :func:`psp.evaluation.testsets.read_text` does.

    Raises:
        DataError: as there, or the file has no lines.
    """
    if not (text := read_text(path, encoding)):
        raise DataError("is empty", path)
    return text


def columns(
    path: Path, wanted: Sequence[str | int], *, header: bool, encoding: str = "utf-8"
) -> Iterator[tuple[int, list[str]]]:
    """Yield the line numbers and chosen columns of a tab-separated file; quotation marks are part of the text.

    Args:
        path: the file.
        wanted: names (with a header) or numbers of columns; a line may have more than these need.
        header: whether the first line names the columns.
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
    least = max(places) + 1
    for line, row in enumerate(rows, start=number):
        cells = row.split("\t")
        if len(cells) < least:
            raise DataError(f"{len(cells)} columns instead of {least}, separated by tabs", path, line)
        yield line, [cells[place] for place in places]


def embedded(scorer: Scorer, texts: Sequence[str]) -> Floats:
    """A system's vectors, float64 (texts, dim), which some tasks need in addition to similarities.

    Raises:
        Unsupported: it has none, like word overlap.
    """
    vectors = getattr(scorer, "vectors", None)
    if vectors is None:
        raise Unsupported("the system compares texts but has no vectors")
    embeddings: Floats = vectors(texts)
    return embeddings
