"""Compiled loops: how this package uses numba, in one place.

numba compiles at the first call, with its own LLVM (no compiler on the machine is asked), and keeps the result beside
the source or in the user's cache. Loops are parallel over independent rows, and each row's sum has a fixed order, so
the number of threads changes no byte.

A function with ``prange`` is optimised once as it is compiled and once more as it is put into the cache, so that the
process that compiles it runs other code than those that come after (numba 0.68; training differed in the last bits).
Results must not depend on it: where a product is added to a sum, at most one of the two terms may be a product, so that
there is one way to fuse them; and sums in any order have functions of their own, such as :func:`dot`, without prange.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numba

log = logging.getLogger(__name__)

# What LLVM may do with float arithmetic: fuse a multiplication and an addition, and ignore the sign of zero. NaN and
# infinity keep their meaning, because divergence is found by them.
_FLOATS = {"contract", "nsz"}
# Sums of a row in any order, without which a dot product is not vectorised (8 times slower).
_SUMS = {"contract", "nsz", "reassoc"}


def compiled(parallel: bool = True, sums: bool = False, fuse: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """A decorator: compile the function, in parallel where it says ``numba.prange``.

    Args:
        parallel: the function has a loop over ``numba.prange``.
        sums: it adds up rows, in any order (the same one at every call).
        fuse: a multiplication and an addition may become one operation, which rounds once.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {
            "parallel": parallel,
            "fastmath": _SUMS if sums else _FLOATS if fuse else False,
            "error_model": "numpy",
            "nogil": True,  # the thread that reads ahead goes on
        }
        try:
            return numba.njit(cache=True, **options)(function)
        except RuntimeError as error:  # neither the package's folder nor the user's cache can be written to
            log.warning("%s is compiled anew at every start: %s", function.__name__, error)
            return numba.njit(**options)(function)

    return decorate


@compiled(parallel=False, sums=True)
def dot(a, b):  # type: ignore[no-untyped-def]
    """The dot product of two vectors of at least one number, in their own precision."""
    total = a[0] * b[0]
    for d in range(1, len(a)):
        total += a[d] * b[d]
    return total


def set_threads(threads: int) -> int:
    """Let compiled loops use ``threads`` threads, as far as the machine has them; the number used before."""
    before: int = numba.get_num_threads()
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(min(threads, most))
    return before
