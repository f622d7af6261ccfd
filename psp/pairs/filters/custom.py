"""A user's own filters: Python functions named in the config.

``filters: {custom: [my_module:keep]}`` calls ``keep(source, target)`` for each pair. It returns True to keep the pair,
and False or ``(False, "reason")`` to drop it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from psp.core import user_code
from psp.pairs.filters.base import Batch, Filter, RowError
from psp.text.words import clean

Function = Callable[[str, str], Any]

PLACE = "filters.custom"
MOST_REASONS = 100
"""Reasons are categories, each counted and sampled; more than this must be a mistake."""


class CustomFilter(Filter):
    """Drops pairs for which one of ``functions``, each written ``module:function``, does not return True.

    Modules are looked up in the working directory first, then as usual. A function gets both sides as cleaned text in
    its original case, before segmentation. Its reasons are counted as ``custom: <reason>``, or ``custom:
    module:function``.

    Raises:
        ConfigError: a module or function does not exist or cannot be imported.
        RowError: a function raises, or returns something else; the error names the function.
    """

    name = "custom"
    order = 80

    def __init__(
        self, settings: Mapping[str, Any], languages: tuple[str, str], resources: Mapping[str, Path | str] | None = None
    ) -> None:
        super().__init__(settings, languages, resources)
        self._functions: list[tuple[str, Function]] | None = None
        self._reasons: set[str] = set()
        self.prepare()

    def prepare(self) -> None:
        if self._functions is None:
            self._functions = [(spec, user_code.load(spec, PLACE)) for spec in self.settings["functions"]]

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_functions": None}  # a function of a user's module may not be picklable

    def __call__(self, batch: Batch) -> list[str | None]:
        self.prepare()
        assert self._functions is not None
        reasons: list[str | None] = [None] * len(batch)
        for row, (source, target) in enumerate(zip(batch.source, batch.target, strict=True)):
            for spec, keep in self._functions:
                try:
                    verdict = keep(source, target)
                except (Exception, SystemExit) as error:  # sys.exit(0) would pass for success
                    message = f"filters.custom: {spec} raised {type(error).__name__}: {error}; fix it or leave it out"
                    raise RowError(" ".join(message.split()), row) from error
                if verdict is not True and (reason := self._reason(spec, verdict, row)) is not None:
                    reasons[row] = reason
                    break
        return reasons

    def _reason(self, spec: str, verdict: Any, row: int) -> str | None:
        given = None
        kept = verdict
        if isinstance(verdict, tuple) and len(verdict) == 2 and isinstance(verdict[1], str):
            kept, given = verdict
        if type(kept).__name__ not in ("bool", "bool_"):  # numpy's too
            raise RowError(
                f'filters.custom: {spec} returned {verdict!r:.80}; return True, False or (False, "reason")', row
            )
        if kept:
            return None
        reason = f"custom: {clean(given or '') or spec}"
        self._reasons.add(reason)
        if len(self._reasons) > MOST_REASONS:
            raise RowError(
                f"filters.custom: {spec} gave more than {MOST_REASONS} reasons, the last is {given!r:.80}; a reason is "
                "a category, the same for many pairs",
                row,
            )
        return reason
