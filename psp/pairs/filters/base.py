"""The interface of all filters, and the registry by which the config names them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from psp.config.blocks.filters import BY_NAME, FiltersBlock
from psp.core import named
from psp.core.errors import ConfigError, PspError

STAGE = tuple(key for key in FiltersBlock.declared() if key not in BY_NAME and key != "custom")
"""Keys of the config's ``filters`` block that are settings of the stage, not filters."""

SIDES: dict[str, tuple[str, ...]] = {"both": ("source", "target"), "source": ("source",), "target": ("target",)}
"""Values of the setting ``sides``, and the columns of a batch that each selects."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Some pairs, as columns of equal length.

    ``source`` and ``target`` hold cleaned text in its original case. ``source_tokens`` and ``target_tokens`` hold the
    same text with spaces between words: the same list unless the language is segmented. ``score`` is the paraphrase
    score, for corpora that have one, ``translation`` the translation score. ``unspaced`` says of the source and of the
    target whether its language has neither spaces between words nor a segmenter.
    """

    source: list[str]
    target: list[str]
    source_tokens: list[str]
    target_tokens: list[str]
    score: list[float] | None = None
    translation: list[float] | None = None
    unspaced: tuple[bool, bool] = (False, False)

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
            None if self.translation is None else [self.translation[row] for row in rows],
            self.unspaced,
        )


class RowError(PspError):
    """A filter failed on the row ``row`` of its batch; the stage, which knows the line number, reports it."""

    def __init__(self, message: str, row: int) -> None:
        super().__init__(message, row)
        self.message, self.row = message, row

    def __str__(self) -> str:
        return f"row {self.row} of the batch: {self.message}"


class Filter(ABC):
    """Decides which pairs of a batch to drop.

    Args:
        settings: the filter's block of the config; missing keys take their defaults.
        languages: codes of the source's and the target's language.
        resources: files needed by filters, by name (``lid``: the language identification model).

    Raises:
        ConfigError: a setting is unknown or has a value that is not allowed.
    """

    name: ClassVar[str]
    """The filter's key in :class:`psp.config.blocks.filters.FiltersBlock`, where its settings are declared, and in its
    reasons."""
    order: ClassVar[int]
    """Filters run in this order, cheap ones first, not in the config's: a pair is counted under its first reason, so
    otherwise the counts would depend on the order of lines in the config."""
    classes: ClassVar[dict[str, type[Filter]]] = {}

    def __init_subclass__(cls) -> None:
        if cls.name not in FiltersBlock.declared() or cls.name in STAGE:
            raise TypeError(f"declare the settings of the filter {cls.name} in {FiltersBlock.__module__}")
        named.add(Filter.classes, cls.name, cls)

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Any] | None = None
    ) -> None:
        block = BY_NAME.get(self.name)  # none for a filter whose settings are a list
        self.settings: dict[str, Any] = dict(settings)
        if block is not None:
            block.at(f"filters.{self.name}", {key: value for key, value in settings.items() if key != "enabled"})
            self.settings = {key: value for key, value in block.defaults().items() if key != "enabled"} | self.settings
            if problem := block.problem({"enabled": True, **self.settings}, languages, None):
                raise ConfigError(problem)
        self.languages = languages
        self.resources = resources or {}
        self.set_up()

    @abstractmethod
    def __call__(self, batch: Batch) -> list[str | None]:
        """For each pair, None to keep it, or the reason to drop it: the filter's name, or ``name: why``.

        Reasons are categories shared by many pairs; they are counted, and attributed to the filter by its name.
        """

    def set_up(self) -> None:  # noqa: B027  (most filters need only their settings)
        """Make what :meth:`__call__` needs, once settings are complete and checked."""

    def prepare(self) -> None:  # noqa: B027  (most filters have nothing to prepare)
        """Load large resources once, before worker processes start, so that they share them."""


def names() -> list[str]:
    """The names of all filters, in the order in which they run."""
    return sorted(Filter.classes, key=lambda name: (Filter.classes[name].order, name))


def build(
    config: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
) -> list[Filter]:
    """The enabled filters of the config's ``filters`` block, ready to run.

    Raises:
        ConfigError: no filter has that name, or a setting is wrong.
    """
    for name in config:
        if name not in Filter.classes and name not in STAGE:
            raise ConfigError(f"filters.{name}: there is no such filter; there are {', '.join(names())}")
    blocks = {name: block for name, block in config.items() if name not in STAGE}
    # A filter whose only setting is a list is written as that list; an empty list disables it.
    blocks |= {
        name: {"functions": block, "enabled": bool(block)} for name, block in blocks.items() if isinstance(block, list)
    }
    return [
        Filter.classes[name](blocks[name], languages, resources)
        for name in names()
        if name in blocks and blocks[name].get("enabled", True)
    ]
