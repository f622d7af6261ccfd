"""Fingerprints of the library's code, so that a step reruns exactly when its code changes.

Snakemake compares a rule's params with those of the last run but does not look into imported modules. Each rule
therefore has a param made here: a hash over the syntax trees of the modules that its work uses, followed through
their imports inside psp. Comments, docstrings and layout are not part of it.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import json
import os
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent
#: What was read of sources, by their hash: parsing all of them takes 2 s, which each start of Snakemake would wait for.
CACHE = PACKAGE / "__pycache__" / "fingerprints.json"

# How a step logs, words its errors or draws its bar does not change what it writes.
INERT = frozenset(
    {"psp", "psp.logs", "psp.errors", "psp.progress", "psp.status", "psp.fingerprint", "psp.training.board"}
)


def fingerprint(*modules: str) -> str:
    """Hash the code of ``modules`` (such as ``"psp.store"``) and of all they import from psp: 16 hex digits.

    Raises:
        ModuleNotFoundError: a module does not exist.
    """
    reached: dict[str, str] = {}
    waiting = list(modules)
    while waiting:
        name = waiting.pop()
        if name not in reached and name not in INERT:
            reached[name], imports = _read(name)
            waiting += imports
    text = "\n".join(f"{name} {tree}" for name, tree in sorted(reached.items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


@functools.cache
def _read(name: str) -> tuple[str, tuple[str, ...]]:
    path = _path(name)
    if path is None:
        raise ModuleNotFoundError(f"no module {name}")
    source = path.read_bytes()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    # What is found depends on the source, on where it stands, and on the code here.
    key = hashlib.sha256(b"\0".join([_own_code(), package.encode(), source])).hexdigest()
    known = _cached()
    if key not in known:
        known[key] = _parse(source, package)
        _keep(known)
    tree, imports = known[key]
    return tree, tuple(sorted(filter(_path, imports)))


def _parse(source: bytes, package: str) -> tuple[str, list[str]]:
    """A hash of the syntax tree without docstrings, and the names inside psp that may be modules that it imports."""
    tree = ast.parse(source)
    imports = sorted(_imports(tree, package))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            assert isinstance(body, list)
            del body[0]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), imports


@functools.cache
def _own_code() -> bytes:
    return Path(__file__).read_bytes()


@functools.cache
def _cached() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        found = json.loads(CACHE.read_bytes())
        if isinstance(found, dict):
            return found
    return {}


def _keep(known: dict[str, Any]) -> None:
    """Write the cache whole, as processes may do at once; where it cannot be written, sources are parsed again."""
    with contextlib.suppress(OSError):
        CACHE.parent.mkdir(exist_ok=True)
        temporary = CACHE.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(known))
        temporary.replace(CACHE)


def _imports(tree: ast.Module, package: str) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            found.add(base)
            found |= {f"{base}.{alias.name}" for alias in node.names}  # a name may itself be a module
    inside = {name for name in found if name.partition(".")[0] == "psp"}
    # Importing psp.a.b runs psp.a's __init__ too.
    inside |= {".".join(name.split(".")[:depth]) for name in inside for depth in range(2, name.count(".") + 1)}
    return inside


def _path(name: str) -> Path | None:
    parts = name.split(".")
    base = PACKAGE.joinpath(*parts[1:])
    for path in (base / "__init__.py", base.with_suffix(".py") if parts[1:] else base / "__init__.py"):
        if path.is_file():
            return path
    return None
