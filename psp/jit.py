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

import hashlib
import logging
from collections.abc import Callable
from typing import Any

import numba
from numba.core.caching import FunctionCache, IndexDataCacheFile

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
        made = numba.njit(**options)(function)
        try:
            made._cache = _Cache(function)  # what cache=True does, with numba's own
        except RuntimeError as error:  # neither the package's folder nor the user's cache can be written to
            log.warning("%s is compiled anew at every start: %s", function.__name__, error)
        return made

    return decorate


class _CacheFile(IndexDataCacheFile):
    """What is kept of one function, in files whose names say what was compiled, so that processes may write at a time.

    numba (0.68) numbers a function's files as the index has them. Two processes that compile it for two types of
    arrays, as jobs of a new installation on a cluster do, can take the same number, and the index then has the code
    for one under the other's types. It is run without a word, in all processes that follow: a sum of int32 came out
    as 1e-44 (tests/test_jit.py). With names of their own, the worst is an entry that is missing, and compiled again.
    """

    def save(self, key: Any, data: Any) -> None:
        """Keep ``data`` for ``key``: types, processor, and a hash of the function's code."""
        name = f"{self._index_name.removesuffix('.nbi')}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, data)  # first, so that the index never names what is not there
        index = self._load_index()
        if index.get(key) != name:
            self._save_index({**index, key: name})


class _Cache(FunctionCache):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        numbas = self._cache_file
        self._cache_file = _CacheFile(self._cache_path, self._impl.filename_base, numbas._source_stamp)


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
