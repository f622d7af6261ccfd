"""A user's own filters: Python functions named in the config.

``filters: {custom: [my_module:keep]}`` calls ``keep(source, target)`` for each pair. It returns True to keep the pair,
and False or ``(False, "reason")`` to drop it.
"""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from psp.core.errors import ConfigError
from psp.pairs.filters.base import Batch, Filter, RowError
from psp.text.words import clean

Function = Callable[[str, str], Any]

MOST_REASONS = 100
"""Reasons are categories, each counted and sampled; more than this must be a mistake."""

SPEC = "^[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_.]*$"
"""How the config names a function."""


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
        for spec in settings.get("functions", ()):
            _checked(spec)
        super().__init__(settings, languages, resources)
        self._functions: list[tuple[str, Function]] | None = None
        self._reasons: set[str] = set()
        self.prepare()

    def prepare(self) -> None:
        if self._functions is None:
            self._functions = [(spec, load(spec)) for spec in self.settings["functions"]]

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


def load(spec: str) -> Function:
    """Import the function named by ``module:function``.

    Raises:
        ConfigError: it does not exist, or its module cannot be imported.
    """
    module_name, _, path = _checked(spec).partition(":")
    with _working_directory():
        _find(spec, module_name)
        try:
            target: Any = importlib.import_module(module_name)
        except (Exception, SystemExit) as error:  # the user's module may do anything on import
            raise ConfigError(
                f"filters.custom: {spec}: importing {module_name} raised {type(error).__name__}: {error}; fix it"
            ) from error
    for part in path.split("."):
        if not hasattr(target, part):
            raise ConfigError(f"filters.custom: {spec}: {target!r:.120} has no {part}; correct the name")
        target = getattr(target, part)
    if not callable(target):
        raise ConfigError(f"filters.custom: {spec} is {type(target).__name__}, not a function of (source, target)")
    return target


def fingerprint(specs: list[str]) -> list[str]:
    """For each ``module:function``, a hash of its module's code, so that changing it reruns the filter.

    Comments and layout do not matter. Modules imported by the module are not included.

    Raises:
        ConfigError: a module does not exist or is not Python.
    """
    hashes = []
    for spec in specs:
        module_name = _checked(spec).partition(":")[0]
        with _working_directory():
            origin = _find(spec, module_name).origin
        if origin is None or not Path(origin).is_file():
            hashes.append(module_name)  # part of Python itself
            continue
        code = Path(origin).read_bytes()
        if origin.endswith(".py"):
            try:
                code = ast.dump(ast.parse(code)).encode()
            except SyntaxError as error:
                raise ConfigError(
                    f"filters.custom: {spec}: {origin}, line {error.lineno}: {error.msg}; fix it"
                ) from None
        hashes.append(hashlib.sha256(code).hexdigest()[:16])
    return hashes


def _checked(spec: Any) -> str:
    if not isinstance(spec, str) or not re.fullmatch(SPEC, spec):
        raise ConfigError(f"filters.custom: {spec!r} must be written module:function, such as my_module:keep")
    return spec


def _find(spec: str, module_name: str) -> ModuleSpec:
    try:
        module = importlib.util.find_spec(module_name)
    except (ImportError, ValueError, AttributeError):  # a parent package is missing or is a plain module
        module = None
    if module is None:
        raise ConfigError(
            f"filters.custom: {spec}: there is no module {module_name}; put {module_name.replace('.', '/')}.py into "
            f"{Path.cwd()}, or correct the name"
        )
    return module


@contextlib.contextmanager
def _working_directory() -> Iterator[None]:
    """Look up modules in the working directory first, however this process was started."""
    folder = str(Path.cwd())
    importlib.invalidate_caches()  # the module may have been written a moment ago
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # the user's module may have changed the list
            sys.path.remove(folder)
