"""Calls in forks of this process, which start instantly, with all imports in place."""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import signal
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")

_calls: Sequence[Callable[[], Any]] = ()


def in_forks(calls: Sequence[Callable[[], Result]], processes: int, sizes: Sequence[int]) -> list[Result]:
    """Make calls in parallel, the largest first, and return their results in the order given.

    With one process, or one call, they are made in this process. The first error ends all others, as does the end of
    this process (on Linux).

    Args:
        calls: the functions need not be picklable, but their results must be.
        processes: how many calls are made at a time.
        sizes: how much each call has to do.

    Raises:
        Exception: what a call raised.
    """
    global _calls
    if min(processes, len(calls)) <= 1:
        return [call() for call in calls]
    _calls = calls
    pool = ProcessPoolExecutor(min(processes, len(calls)), multiprocessing.get_context("fork"), _end_with_parent)
    try:
        order = sorted(range(len(calls)), key=lambda place: -sizes[place])
        results = dict(zip(order, pool.map(_call, order), strict=True))
        return [results[place] for place in range(len(calls))]
    except BaseException:
        for process in multiprocessing.active_children():
            process.kill()  # a fork of a process that handles SIGTERM would live on
        raise
    finally:
        pool.shutdown(cancel_futures=True)
        _calls = ()


def _end_with_parent() -> None:
    with contextlib.suppress(AttributeError):  # prctl is Linux's
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _call(place: int) -> Any:
    return _calls[place]()
