"""Fingerprints of the library's code, so that a step reruns exactly when its code changes.

Snakemake compares a rule's params with those of the last run but does not look into imported modules. Each rule
therefore has a param computed here: a hash of the syntax trees of the modules it uses and of everything they import
from psp. Comments, docstrings and formatting do not count.
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

PACKAGE = Path(__file__).parents[1]
#: What is hashed: the library, and the generator of the demo's text.
ROOTS = ("psp", "phrasebook")
#: Parse results by source hash: parsing everything takes 2 s, at each start of Snakemake.
CACHE = PACKAGE / "__pycache__" / "fingerprints.json"

# Modules that do not affect outputs: logging, error classes, progress bars, and checks of files.
INERT = frozenset(
    {
        "psp",
        "psp.core.logs",
        "psp.core.errors",
        "psp.core.progress",
        "psp.core.fingerprint",
        "psp.core.version",
    }
)


def fingerprint(*modules: str) -> str:
    """Hash the code of ``modules`` (such as ``"psp.pairs.store"``) and of all they import from :data:`ROOTS`, to 16
    hex digits.

    ``"psp.pairs.filters.*"`` stands for the package and every module in its folder, imported by name or not.

    Raises:
        ModuleNotFoundError: a module does not exist.
    """
    text = "\n".join(f"{name} {tree}" for name, tree in sorted(reached(*modules).items()))
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def reached(*modules: str) -> dict[str, str]:
    """Return what :func:`fingerprint` covers: a hash of the syntax tree by module name.

    Raises:
        ModuleNotFoundError: a module does not exist.
    """
    sources: dict[str, str] = {}
    waiting = [name for wanted in modules for name in _matching(wanted)]
    while waiting:
        name = waiting.pop()
        if name not in sources and name not in INERT:
            sources[name], imports = _read(name)
            waiting += imports
    _keep()
    return sources


def _matching(wanted: str) -> list[str]:
    package = wanted.removesuffix(".*")
    if package == wanted:
        return [wanted]
    path = _path(package)
    if path is None or path.name != "__init__.py":
        raise ModuleNotFoundError(f"no package {package}")
    inside = (f"{package}.{module.stem}" for module in path.parent.iterdir())
    return [package, *(name for name in sorted(inside) if not name.endswith("__init__") and _path(name))]


@functools.cache
def _read(name: str) -> tuple[str, tuple[str, ...]]:
    path = _path(name)
    if path is None:
        raise ModuleNotFoundError(f"no module {name}")
    source = path.read_bytes()
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    # The result depends on the source, its package, and the code of this module.
    key = hashlib.sha256(b"\0".join([_own_code(), package.encode(), source])).hexdigest()
    known = _cached()
    if key not in known:
        known[key] = _parse(source, package)
        _unsaved.add(key)
    tree, imports = known[key]
    return tree, tuple(sorted(filter(_path, imports)))


#: Keywords of a declaration that do not change the code's behaviour.
_FOR_PEOPLE = ("help", "recipes", "unstated", "inert", "untracked")


def _parse(source: bytes, package: str) -> tuple[str, list[str]]:
    """Return a hash of the syntax tree without text for people, and the imported names in psp that may be modules.

    Docstrings and imports for type checkers are left out, and so are the help, the ``recipes`` and the ``unstated`` of
    declared settings (:mod:`psp.core.settings`): the resulting values are params of the rules themselves.
    """
    tree = _WithoutTypes().visit(ast.parse(source))
    imports = sorted(_imports(tree, package))
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (
            ast.get_docstring(node, clean=False) is not None
        ):
            assert isinstance(body, list)
            del body[0]
        if isinstance(node, ast.Call) and any(keyword.arg == "help" for keyword in node.keywords):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in _FOR_PEOPLE]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Section":
            del node.args[:1]
        elif isinstance(node, ast.ClassDef):
            node.body = [line for line in node.body if not _is_help(line)]
    return hashlib.sha256(ast.dump(tree).encode()).hexdigest(), imports


def _is_help(line: ast.stmt) -> bool:
    """Whether a line of a class is ``help = "..."``."""
    return isinstance(line, ast.Assign) and ast.unparse(line.targets[0]) == "help"


class _WithoutTypes(ast.NodeTransformer):
    """Leaves out what only type checkers read: ``if TYPE_CHECKING:``."""

    def visit_If(self, node: ast.If) -> ast.stmt | list[ast.stmt]:
        self.generic_visit(node)
        return node.orelse if ast.unparse(node.test) == "TYPE_CHECKING" else node


@functools.cache
def _own_code() -> bytes:
    return Path(__file__).read_bytes()


@functools.cache
def _cached() -> dict[str, Any]:
    with contextlib.suppress(OSError, ValueError):
        cached = json.loads(CACHE.read_bytes())
        if isinstance(cached, dict):
            return cached
    return {}


_unsaved: set[str] = set()


def _keep() -> None:
    """Write the cache atomically, for concurrent processes; if that fails, sources are parsed again next time."""
    if not _unsaved:
        return
    with contextlib.suppress(OSError):
        CACHE.parent.mkdir(exist_ok=True)
        temporary = CACHE.with_suffix(f".{os.getpid()}")
        temporary.write_text(json.dumps(_cached()))
        temporary.replace(CACHE)
    _unsaved.clear()


def _imports(tree: ast.Module, package: str) -> set[str]:
    imported: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parents = package.split(".")[: len(package.split(".")) - node.level + 1]
                base = ".".join([*parents, base] if base else parents)
            imported.add(base)
            imported |= {f"{base}.{alias.name}" for alias in node.names}  # a name may itself be a module
    inside = {name for name in imported if name.partition(".")[0] in ROOTS}
    # Importing psp.a.b runs psp.a's __init__ too; psp's own loads the public interface.
    inside |= {".".join(name.split(".")[:depth]) for name in inside for depth in range(1, name.count(".") + 1)}
    return inside


def _path(name: str) -> Path | None:
    for root in (PACKAGE.parent, PACKAGE / "workflow"):  # of a wheel, which has the generator there
        base = root.joinpath(*name.split("."))
        for path in (base / "__init__.py", base.with_suffix(".py")):
            if path.is_file():
                return path
    return None
