"""A user's own functions as filters, found from the working directory, and what happens when they are wrong."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from psp.core.errors import ConfigError, DataError
from psp.corpora.rows import BadRow
from psp.pairs.filters import Batch, RowError, build, filter_corpus
from psp.pairs.filters.custom import MOST_REASONS


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Write a module into the working directory, which is a new folder; it is forgotten again."""
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules), list(sys.path)

    def write(code: str, name: str = "own_filters") -> str:
        path = Path(f"{name.replace('.', '/')}.py")
        path.parent.mkdir(exist_ok=True, parents=True)
        path.write_text(code)
        return name

    yield write
    for name in set(sys.modules) - before[0]:
        del sys.modules[name]
    assert sys.path == before[1]


def batch(*rows: tuple[str, str]) -> Batch:
    source, target = [row[0] for row in rows], [row[1] for row in rows]
    return Batch(source, target, [text.lower() for text in source], target)


def judge(*specs: str, rows: Batch) -> list[str | None]:
    (filter_,) = build({"custom": list(specs)}, ("en", "fr"))
    return pickle.loads(pickle.dumps(filter_))(rows)


def test_functions_keep_or_drop_and_may_give_reasons(module):
    module(
        """
import numpy as np

def keep(source, target):
    return source != "Bad"

def say(source, target):
    return (False, "too\\teasy ") if target == "facile" else (True, "")

class Own:
    @staticmethod
    def nothing(source, target):
        return np.bool_(target != "rien")
"""
    )
    rows = batch(("Good", "bon"), ("Bad", "bon"), ("Bad", "facile"), ("Good", "facile"), ("Good", "rien"))
    assert judge("own_filters:keep", rows=rows) == [None, *["custom: own_filters:keep"] * 2, None, None]
    assert judge("own_filters:keep", "own_filters:say", "own_filters:Own.nothing", rows=rows) == [
        None,
        "custom: own_filters:keep",
        "custom: own_filters:keep",
        "custom: too easy",
        "custom: own_filters:Own.nothing",
    ]


def test_an_empty_list_is_no_filter(module):
    assert build({"custom": []}, ("en", "fr")) == []


def test_a_module_of_a_package_and_the_working_directory_comes_first(module):
    module("", "own_package.__init__")
    module("def keep(source, target): return False", "own_package.rules")
    assert judge("own_package.rules:keep", rows=batch(("a", "b"))) == ["custom: own_package.rules:keep"]
    module("def keep(source, target): return (False, 'mine')", "tabnanny")  # Python has one, too
    assert judge("tabnanny:keep", rows=batch(("a", "b"))) == ["custom: mine"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("own_filters", "'own_filters' must be written module:name"),
        ("own-filters:keep", "must be written module:name"),
        ("no_such_module:keep", r"there is no module no_such_module; put no_such_module\.py into "),
        ("no_such.module:keep", "there is no module no_such.module"),
        ("own_filters:kept", "own_filters.* has no kept"),
        ("own_filters:NUMBER", "own_filters:NUMBER is int, not a function"),
        ("broken:keep", "importing broken raised ZeroDivisionError: division by zero"),
        ("ends:keep", "importing ends raised SystemExit: 0"),
    ],
)
def test_what_cannot_be_found_is_named(module, spec, message):
    module("NUMBER = 1\ndef keep(source, target): return True")
    module("1 / 0", "broken")
    module("raise SystemExit(0)", "ends")
    with pytest.raises(ConfigError, match=message) as caught:
        build({"custom": [spec]}, ("en", "fr"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return None", "own_filters:keep returned None; return True, False or"),
        ("return 1", "returned 1;"),
        ("return (False, 3)", r"returned \(False, 3\);"),
        ("return (None, 'x')", r"returned \(None, 'x'\);"),
        ("raise KeyError(source)", "own_filters:keep raised KeyError: 'two'"),
        ("raise SystemExit(0)", "own_filters:keep raised SystemExit: 0"),
    ],
)
def test_a_function_that_raises_or_returns_something_else(module, body, message):
    module(f"def keep(source, target):\n    if source == 'one': return True\n    {body}")
    with pytest.raises(RowError, match=message) as caught:
        judge("own_filters:keep", rows=batch(("one", "un"), ("two", "deux")))
    assert caught.value.row == 1


def test_reasons_are_categories(module):
    module("def keep(source, target): return (False, source)")
    rows = [(f"reason {number}", "x") for number in range(MOST_REASONS + 1)]
    assert None not in judge("own_filters:keep", rows=batch(*rows[1:]))
    with pytest.raises(RowError, match=f"more than {MOST_REASONS} reasons, the last is 'reason {MOST_REASONS}'"):
        judge("own_filters:keep", rows=batch(*rows))


@pytest.mark.parametrize("processes", [1, 2])
def test_the_error_names_the_pairs_line_in_the_corpus(module, tmp_path, processes):
    module("def keep(source, target):\n    assert 'wrong' not in target, 'cannot judge'\n    return True")
    rows: list[Any] = [("one two three", "un deux trois")] * 40
    # Lines that are dropped before must be counted, too.
    rows[3], rows[27], rows[28], rows[30] = ("short", "x"), BadRow("row: columns", "?"), ("", "x"), ("short", "x")
    rows[29], rows[31] = ("copies of one", "copies of one"), ("one two three", "something wrong here")
    out = [tmp_path / name for name in ("out.tsv", "out.json", "out.dropped.tsv")]
    filters = build({"length": {"min": 2}, "identical": {}, "custom": ["own_filters:keep"]}, ("en", "fr"))
    with pytest.raises(DataError) as caught:
        filter_corpus(rows, *out, corpus="News", languages=("en", "fr"), filters=filters, batch=9, processes=processes)
    assert str(caught.value) == (
        "News, line 32: filters.custom: own_filters:keep raised AssertionError: cannot judge; fix it or leave it out"
    )
    assert not any(path.exists() for path in out)


def test_the_stage_counts_its_reasons(module, tmp_path):
    module("def keep(source, target): return (False, 'odd') if len(source) % 2 else True")
    out = [tmp_path / name for name in ("out.tsv", "out.json", "out.dropped.tsv")]
    rows = [("a" * number, "x") for number in range(1, 11)]
    filters = build({"custom": ["own_filters:keep"]}, ("en", "fr"))
    summary = filter_corpus(rows, *out, corpus="C", languages=("en", "fr"), filters=filters, processes=2, batch=3)
    assert (summary["kept"], summary["dropped"]) == (5, {"custom: odd": 5})
    assert summary["filters"]["custom"] == {"functions": ["own_filters:keep"], "enabled": True}
