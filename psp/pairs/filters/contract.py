"""What all filters share, and how a name in the config becomes a filter."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from psp.core.errors import ConfigError, PspError
from psp.core.settings import Section, Setting, flag, number
from psp.pairs.data_limits import WARN_SHARE

STAGE: dict[str, Setting] = {
    "lower_case": flag(True, help="lower-case the text, in training and when the model is used"),
    "max_bad_rows": number(
        0.01,
        at_least=0,
        at_most=1,
        help="share of rows that may have other columns than a pair or no sound score; more is an error",
    ),
    "warn_share": WARN_SHARE,
}
"""Keys of the config's ``filters`` block that are settings of the stage, not filters."""

SIDES: dict[str, tuple[str, ...]] = {"both": ("source", "target"), "source": ("source",), "target": ("target",)}
"""The setting ``sides`` and the columns of a batch that it means."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some pairs, as columns of equal length.

    ``source`` and ``target`` hold cleaned text in its own case. ``source_tokens`` and ``target_tokens`` hold the
    same text with spaces between its words: the very same list unless the language is segmented. ``score`` is the
    paraphrase score, for corpora that carry one.
    """

    source: list[str]
    target: list[str]
    source_tokens: list[str]
    target_tokens: list[str]
    score: list[float] | None = None

    def __len__(self) -> int:
        return len(self.source)

    def select(self, rows: Sequence[int]) -> Batch:
        """The batch of these rows, in this order."""

        def pick(column: list[str]) -> list[str]:
            return [column[row] for row in rows]

        source, target = pick(self.source), pick(self.target)
        return Batch(
            source,
            target,
            source if self.source_tokens is self.source else pick(self.source_tokens),
            target if self.target_tokens is self.target else pick(self.target_tokens),
            None if self.score is None else [self.score[row] for row in rows],
        )


class RowError(PspError):
    """A filter cannot judge the row ``row`` of its batch; the stage, which knows the row's line, names it."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message, row)
        self.message, self.row = message, row

    def __str__(self) -> str:
        return f"row {self.row} of the batch: {self.message}"


class Filter(ABC):
    """Judges the pairs of a batch.

    Args:
        settings: the filter's block of the config; keys that are missing take their default.
        languages: codes of the source's and the target's language.
        resources: files that filters need, by name (``lid``: the language identification model).

    Raises:
        ConfigError: a setting is unknown or has a value that is not allowed.
    """

    name: ClassVar[str]
    """The filter's key under ``filters`` in the config, and in its reasons."""
    order: ClassVar[int]
    """Filters run in this order, cheap ones first, whatever the order in the config: a pair is counted under its
    first reason, so the counts would otherwise change with the order of two lines."""
    help: ClassVar[str]
    """What the filter looks at, in a few words; :attr:`declared` says of its settings what each does."""
    declared: ClassVar[Mapping[str, Setting]]
    """The filter's settings. The first is ``enabled``, a flag; or there is but one, a list, which is then written in
    place of the block, and switches the filter on when it holds something."""
    classes: ClassVar[dict[str, type[Filter]]] = {}

    def __init_subclass__(cls) -> None:
        if "enabled" not in cls.declared and cls.list_setting() is None:
            raise TypeError(f"no config could switch on the filter {cls.name}: declare its setting `enabled`, a flag")
        Filter.classes[cls.name] = cls

    @classmethod
    def list_setting(cls) -> str | None:
        """The setting that is written in the place of the block, where there is but one and it is a list."""
        (key, setting), *others = cls.declared.items()
        return key if not others and setting.values().get("type") == "array" else None

    @classmethod
    def node(cls) -> dict[str, Any]:
        """The filter's block in the config's schema."""
        if (key := cls.list_setting()) is not None:
            return cls.declared[key].node
        return Section(cls.help, cls.declared).node

    @classmethod
    def problem(cls, settings: Mapping[str, Any], languages: tuple[str, str], kind: str | None) -> str | None:
        """What is wrong with settings that are each allowed, in one line that says what to write; None for nothing.

        Args:
            settings: all of the filter's.
            languages: of the corpus, codes of source and target.
            kind: of the corpus (``opus``, ``paranmt``, ``local``); None where it is not known.
        """
        if {"min", "max"} <= settings.keys() and settings["min"] > settings["max"]:
            return f"filters.{cls.name}: min {settings['min']} is above max {settings['max']}; swap them"
        return None

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        defaults = {key: setting.default for key, setting in self.declared.items() if key != "enabled"}
        for key in settings:
            if key not in defaults and key != "enabled":
                raise ConfigError(f"filters.{self.name}.{key}: unknown key; known are {', '.join(defaults)}")
        self.settings: dict[str, Any] = {**defaults, **settings}
        self.languages = languages
        self.resources = resources or {}
        for key, value in self.settings.items():
            if key in self.declared and not self.declared[key].allows(value):
                raise self.wrong(key, value)
        if problem := self.problem({"enabled": True, **self.settings}, languages, None):
            raise ConfigError(problem)

    @abstractmethod
    def __call__(self, batch: Batch) -> list[str | None]:
        """For each pair None to keep it, or why it is dropped: the filter's name, or ``name: why``.

        Reasons are categories, the same for many pairs; they are counted, and credited to the filter by its name.
        """

    def prepare(self) -> None:  # noqa: B027  (most filters have nothing to prepare)
        """Load what is large, once, before worker processes start: they share what is here already."""

    def wrong(self, key: str, value: object) -> ConfigError:
        """The error for a value that a setting may not have."""
        setting = self.declared[key]
        if options := setting.values().get("enum"):
            return ConfigError(
                f"filters.{self.name}.{key}: {value!r} must be one of {', '.join(options)}; "
                f"write '{key}: {setting.default}'"
            )
        return ConfigError(f"filters.{self.name}.{key}: {value!r} must be {setting.allowed}")


def names() -> list[str]:
    """All filters there are, in the order in which they run."""
    return sorted(Filter.classes, key=lambda name: (Filter.classes[name].order, name))


def section() -> Section:
    """The block ``filters`` of the config: the stage's settings, and each filter's."""
    return Section("which pairs are kept", {**STAGE, **{name: Filter.classes[name].node() for name in names()}})


def problems(config: Mapping[str, Any], languages: tuple[str, str], kind: str) -> Iterator[str]:
    """What the filters have to say against a corpus's ``filters`` block, each in one line.

    Args:
        config: the block, each filter in it with all its keys.
        languages: of the corpus, codes of source and target.
        kind: of the corpus.
    """
    for name in names():
        block = config.get(name)  # a list, where that is the filter's only setting
        if isinstance(block, Mapping) and (said := Filter.classes[name].problem(block, languages, kind)):
            yield said


def build(
    config: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
) -> list[Filter]:
    """The enabled filters of the config's ``filters`` block, ready to run.

    Raises:
        ConfigError: no filter has such a name, or a setting is wrong.
    """
    for name in config:
        if name not in Filter.classes and name not in STAGE:
            raise ConfigError(f"filters.{name}: there is no such filter; there are {', '.join(names())}")
    blocks = {name: block for name, block in config.items() if name not in STAGE}
    # A filter whose only setting is a list is written as that list; an empty one is off.
    blocks |= {
        name: {key: block, "enabled": bool(block)}
        for name, block in blocks.items()
        if isinstance(block, list) and (key := Filter.classes[name].list_setting())
    }
    return [
        Filter.classes[name](blocks[name], languages, resources)
        for name in names()
        if name in blocks and blocks[name].get("enabled", True)
    ]
