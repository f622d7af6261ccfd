"""What all filters share, and how a name in the config becomes a filter.

To add a filter named ``overlap``, add the file ``psp/filters/overlap.py`` with a subclass of :class:`Filter` whose
``name`` is ``overlap``, and import it in ``psp/filters/__init__.py``; the config key ``filters.overlap`` then reaches
it. (The import is written out rather than found at run time, so that :mod:`psp.fingerprint` sees the new code and the
stage reruns.)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from psp.errors import ConfigError, PspError

STAGE_KEYS = frozenset({"lower_case", "max_bad_rows", "warn_share"})
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
        settings: the filter's block of the config; keys that are missing take their value from ``defaults``.
        languages: codes of the source's and the target's language.
        resources: files that filters need, by name (``lid``: the language identification model).

    Raises:
        ConfigError: a setting is unknown or has a value that is not allowed.
    """

    name: ClassVar[str]
    order: ClassVar[int]
    """Filters run in this order, cheap ones first, whatever the order in the config: a pair is counted under its
    first reason, so the counts would otherwise change with the order of two lines."""
    defaults: ClassVar[Mapping[str, Any]]
    known_sides: ClassVar[tuple[str, ...]] = tuple(SIDES)
    """Values that the setting ``sides`` may have, where there is one."""
    list_setting: ClassVar[str] = ""
    """The setting that the filter's block of the config is when it is written as a list."""
    classes: ClassVar[dict[str, type[Filter]]] = {}

    def __init_subclass__(cls) -> None:
        Filter.classes[cls.name] = cls

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        for key in settings:
            if key not in self.defaults and key != "enabled":
                raise ConfigError(f"filters.{self.name}.{key}: unknown key; known are {', '.join(self.defaults)}")
        self.settings: dict[str, Any] = {**self.defaults, **settings}
        self.languages = languages
        self.resources = resources or {}
        if (sides := self.settings.get("sides", "both")) not in self.known_sides:
            raise self.wrong("sides", sides, f"must be one of {', '.join(self.known_sides)}; write 'sides: both'")

    @abstractmethod
    def __call__(self, batch: Batch) -> list[str | None]:
        """For each pair None to keep it, or in a few words why it is dropped (a category, the same for many)."""

    def prepare(self) -> None:  # noqa: B027  (most filters have nothing to prepare)
        """Load what is large, once, before worker processes start: they share what is here already."""

    def wrong(self, key: str, value: object, why: str) -> ConfigError:
        """The error for a setting that cannot be used."""
        return ConfigError(f"filters.{self.name}.{key}: {value!r} {why}")


def names() -> list[str]:
    """All filters there are, in the order in which they run."""
    return sorted(Filter.classes, key=lambda name: (Filter.classes[name].order, name))


def build(
    config: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
) -> list[Filter]:
    """The enabled filters of the config's ``filters`` block, ready to run.

    Raises:
        ConfigError: no filter has such a name, or a setting is wrong.
    """
    for name in config:
        if name not in Filter.classes and name not in STAGE_KEYS:
            raise ConfigError(f"filters.{name}: there is no such filter; there are {', '.join(names())}")
    blocks = {name: block for name, block in config.items() if name not in STAGE_KEYS}
    # A filter whose only setting is a list is written as that list; an empty one is off.
    blocks |= {
        name: {Filter.classes[name].list_setting: block, "enabled": bool(block)}
        for name, block in blocks.items()
        if isinstance(block, list)
    }
    return [
        Filter.classes[name](blocks[name], languages, resources)
        for name in names()
        if name in blocks and blocks[name].get("enabled", True)
    ]
