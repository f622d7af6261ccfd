"""Fixtures that any test may use."""

from __future__ import annotations

import logging
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hypothesis
import pytest

# How long an example takes tells of the machine, and of what is compiled or loaded at its first use.
hypothesis.settings.register_profile("psp", deadline=None)
hypothesis.settings.load_profile("psp")

LEVEL = logging.getLogger().level

# A shell starts what it puts in the background deaf to Ctrl-C, and so would be all processes that tests start.
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest comes first, so that two processes (``pytest -n 2``) end together.

    A test that needs the finished run waits until it is made; those on fresh copies of the project need not.
    """

    def place(item: pytest.Item) -> int:
        fixtures = getattr(item, "fixturenames", ())
        wanted: list[bool] = [
            "measured" in fixtures,
            "project" in fixtures and "finished" not in fixtures,
            "finished" in fixtures,
            "training" in item.path.parts,
        ]
        return [*wanted, True].index(True)

    items.sort(key=place)


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """Where files differ, say so in a line: pytest's own comparison of two models takes minutes."""
    if op != "==" or not (isinstance(left, bytes) and isinstance(right, bytes)) or len(left) + len(right) < 2000:
        return None
    same = next((place for place, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), "of the shorter")
    return [f"{len(left)} bytes == {len(right)} bytes", f"the first {same} are the same"]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """``pytest -n 2``: a file's tests stay together, for they share its fixtures; runs of Snakemake are their own."""
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return nodeid if nodeid.startswith("tests/workflow/") else nodeid.partition("::")[0]

    config.option.loadscopereorder = False  # keep the order above
    return ByFile(config, log)


@pytest.fixture(scope="session")
def psp_data() -> Path:
    """The folder with real data (opus/, paraphrase/, eval/, lid/), named by the environment variable PSP_DATA."""
    folder = os.environ.get("PSP_DATA")
    if not folder:
        pytest.skip("PSP_DATA is not set; it names the folder with real data (opus/, paraphrase/, eval/, lid/)")
    if not Path(folder).is_dir():  # a skip would hide the mistake
        pytest.fail(f"PSP_DATA={folder} is not a folder")
    return Path(folder)


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """A command that a test runs in this process sets logging up; the next test's output must not go there.

    Nor may that of a module's fixtures, which come before this one.
    """
    _quiet()
    yield
    _quiet()


def _quiet() -> None:
    root = logging.getLogger()
    root.setLevel(LEVEL)
    for handler in list(root.handlers):
        if type(handler) in (logging.StreamHandler, logging.FileHandler):  # pytest's own are of other classes
            root.removeHandler(handler)
            handler.close()
