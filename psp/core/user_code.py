"""A user's own Python, which the config names as ``module:name``: imported only where it is named."""

from __future__ import annotations

import ast
import contextlib
import hashlib
import importlib
import importlib.util
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any

from psp.core.errors import ConfigError

SPEC = r"[A-Za-z_][A-Za-z0-9_.]*:[A-Za-z_][A-Za-z0-9_.]*"
"""How the config names it."""
_loaded: set[str] = set()
"""The modules of what was loaded."""


def load(spec: str, place: str) -> Callable[..., Any]:
    """Import the function or class named by ``module:name``.

    Modules are looked up in the working directory first, then as usual.

    Args:
        place: where the config names it, such as ``filters.custom``.

    Raises:
        ConfigError: it does not exist, or its module cannot be imported.
    """
    where = f"{place}: {spec}"
    module_name, _, path = _checked(spec, place).partition(":")
    with _working_directory():
        _find(where, module_name)
        try:
            target: Any = importlib.import_module(module_name)
        except (Exception, SystemExit) as error:  # the user's module may do anything on import
            raise ConfigError(
                f"{where}: importing {module_name} raised {type(error).__name__}: {error}; fix it"
            ) from error
    _loaded.add(module_name)
    for part in path.split("."):
        if not hasattr(target, part):
            raise ConfigError(f"{where}: {target!r:.120} has no {part}; correct the name")
        target = getattr(target, part)
    if not callable(target):
        raise ConfigError(f"{where} is {type(target).__name__}, not a function or class")
    return target


def subclass(spec: str, place: str, base: type[Any]) -> type[Any]:
    """As :func:`load`, of a class that derives from ``base`` and has all that it asks for.

    Raises:
        ConfigError: as :func:`load`; or it does not.
    """
    found, wanted = load(spec, place), f"{base.__module__}.{base.__qualname__}"
    if not (isinstance(found, type) and issubclass(found, base)):
        raise ConfigError(f"{place}: {spec} is no subclass of {wanted}; derive it from that")
    if missing := sorted(getattr(found, "__abstractmethods__", ())):
        raise ConfigError(f"{place}: {spec} lacks {', '.join(missing)}; write it as {wanted} says")
    return found


def told(error: Exception) -> str | None:
    """Say in one line where a user's own code raised an error; None if none did."""
    for frame, line in reversed([*traceback.walk_tb(error.__traceback__)]):
        if frame.f_globals.get("__name__") in _loaded:
            raised = " ".join(f"{type(error).__name__}: {error}".split())
            return f"{frame.f_code.co_filename}, line {line}: {raised}; this is your own code: fix it"
    return None


def fingerprint(specs: Iterable[str], place: str) -> list[str]:
    """For each ``module:name``, a hash of its module's code, so that changing it reruns what uses it.

    Comments and layout do not matter. Modules imported by the module are not included.

    Raises:
        ConfigError: a module does not exist or is not Python.
    """
    hashes = []
    for spec in specs:
        module_name = _checked(spec, place).partition(":")[0]
        with _working_directory():
            origin = _find(f"{place}: {spec}", module_name).origin
        if origin is None or not Path(origin).is_file():
            hashes.append(module_name)  # part of Python itself
            continue
        code = Path(origin).read_bytes()
        if origin.endswith(".py"):
            try:
                code = ast.dump(ast.parse(code)).encode()
            except SyntaxError as error:
                raise ConfigError(f"{place}: {spec}: {origin}, line {error.lineno}: {error.msg}; fix it") from None
        hashes.append(hashlib.sha256(code).hexdigest()[:16])
    return hashes


def _checked(spec: Any, place: str) -> str:
    if not isinstance(spec, str) or not re.fullmatch(SPEC, spec):
        raise ConfigError(f"{place}: {spec!r} must be written module:name, such as my_module:keep")
    return spec


def _find(where: str, module_name: str) -> ModuleSpec:
    try:
        module = importlib.util.find_spec(module_name)
    except (ImportError, ValueError, AttributeError):  # a parent package is missing or is a plain module
        module = None
    if module is None:
        raise ConfigError(
            f"{where}: there is no module {module_name}; put {module_name.replace('.', '/')}.py into "
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
