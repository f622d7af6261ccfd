"""Compiled loops' cache: processes that fill it at the same time."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from psp.core import jit  # it needs numba

SUM = """
from psp.core.jit import compiled

@compiled(parallel=False)
def total(row):
    result = 0.0
    for number in row:
        result += number
    return result
"""
FLOATS, INTEGERS = np.array([1, 2, 4], np.float32), np.array([1, 2, 4], np.int32)
_NUMBERS = itertools.count()


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "sums.py"
    path.write_text(SUM)
    return path


def loaded(source: Path) -> ModuleType:
    """The module as another process would have it: with nothing compiled or read yet."""
    spec = importlib.util.spec_from_file_location(f"sums{next(_NUMBERS)}", source)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # numba looks for it there
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("step", ["_load_index", "_save_index", "_save_data"])
def test_two_processes_that_write_at_a_time_leave_no_wrong_code(
    source: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    one, other = loaded(source), loaded(source)
    files = one.total._cache._cache_file
    real, empty = getattr(files, step), other.total._cache._cache_file
    monkeypatch.setattr(empty, "_load_index", dict)  # it read the index before the first one wrote

    def meanwhile(*arguments: Any) -> Any:
        """The other process compiles and writes, all in the middle of the first one's writing."""
        monkeypatch.setattr(files, step, real)
        found = real(*arguments) if step == "_load_index" else None
        assert other.total(INTEGERS) == 7
        return found if step == "_load_index" else real(*arguments)

    read = files.load
    monkeypatch.setattr(files, "load", lambda key: None)  # its compilation began before
    monkeypatch.setattr(files, step, meanwhile)
    assert one.total(FLOATS) == 7
    monkeypatch.setattr(files, "load", read)
    third = loaded(source)
    assert third.total(INTEGERS) == 7 and third.total(FLOATS) == 7
    assert len(third.total._cache._cache_file._load_index()) == 2


def test_what_is_compiled_is_compiled_once(source: Path) -> None:
    first = loaded(source)
    assert first.total(FLOATS) == 7 and first.total(INTEGERS) == 7
    assert sum(first.total.stats.cache_misses.values()) == 2
    files = sorted(source.parent.glob("__pycache__/*.nbc"))
    assert len(files) == 2
    second = loaded(source)
    assert second.total(INTEGERS) == 7 and second.total(FLOATS) == 7
    assert not second.total.stats.cache_misses and sum(second.total.stats.cache_hits.values()) == 2
    source.write_text(source.read_text().replace("result = 0.0", "result = 1.00"))  # of another size, too
    assert loaded(source).total(FLOATS) == 8
    assert loaded(source).total.stats.cache_hits == {}


def test_a_folder_that_cannot_be_written_to_is_said_once(source: Path, tmp_path: Path) -> None:
    code = f"""
import sys, logging
logging.basicConfig(format="%(message)s")
sys.path.insert(0, {str(source.parent)!r})
from numba.core import caching
for locator in caching.CacheImpl._locator_classes:
    locator.from_function = classmethod(lambda *arguments: None)
from psp.core.jit import dot
import numpy as np
print(dot(np.ones(3), np.ones(3)))
"""
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert result.stdout == "3.0\n", result.stderr
    assert result.stderr.count("dot is recompiled at every start: ") == 1


def test_that_loops_are_compiled_is_said_once_and_not_where_they_are_found(
    source: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")
    for said in (1, 1):  # the second process finds both
        monkeypatch.setattr(jit, "_said", False)
        sums = loaded(source)
        assert sums.total(FLOATS) == 7 and sums.total(INTEGERS) == 7
        assert len([one for one in caplog.records if "compiled for this processor" in one.getMessage()]) == said
