"""A user's own code: what changes it, and whose its errors are."""

import sys

import pytest

from psp.core.errors import ConfigError
from psp.core.logs import job, last_error
from psp.core.user_code import fingerprint, load


def test_the_fingerprint_changes_with_the_code_alone(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    module = (tmp_path / "own_filters.py").write_text
    module("def keep(source, target):\n    return True\n")
    first = fingerprint(["own_filters:keep"], "filters.custom")
    module("# a remark\ndef keep(source, target): return True")
    assert fingerprint(["own_filters:keep"], "filters.custom") == first
    module("def keep(source, target): return False")
    assert fingerprint(["own_filters:keep"], "filters.custom") != first
    assert fingerprint(["sys:intern", "own_filters:keep"], "filters.custom")[0] == "sys"
    module("def keep(source, target) return")
    with pytest.raises(ConfigError, match=r"own_filters\.py, line 1: "):
        fingerprint(["own_filters:keep"], "filters.custom")
    with pytest.raises(ConfigError, match="there is no module nowhere"):
        fingerprint(["nowhere:keep"], "filters.custom")
    assert "own_filters" not in sys.modules  # read, not run


def test_an_error_in_a_users_own_code_is_no_bug_of_psp(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own_code.py").write_text("def wrong():\n    return 1 / 0\n")
    wrong = load("own_code:wrong", "filters.custom")
    with pytest.raises(SystemExit), job(tmp_path / "a.log"):
        wrong()
    assert last_error(tmp_path / "a.log") == (
        f"{tmp_path}/own_code.py, line 2: ZeroDivisionError: division by zero; this is your own code: fix it"
    )
