"""Compiled loops: the one place where this package configures numba.

numba compiles at the first call with its own LLVM, so no system compiler is needed, and caches the result beside the
source or in the user's cache. Loops are parallel over independent rows and each row is summed in a fixed order, so
results are bitwise independent of the number of threads.

numba 0.68 optimises a function with ``prange`` when it compiles it and again when it caches it, so the compiling
process runs different code from later ones (training differed in the last bits). Results must not depend on this. Where
a product is added to a sum, at most one of the two terms may be a product, so that there is only one way to fuse them.
Sums in arbitrary order go into functions without prange, such as :func:`dot`.
"""

from __future__ import annotations

import functools
import hashlib
import logging
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import numpy.typing as npt
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.registry import cpu_target

log = logging.getLogger(__name__)
#: Whether this process has said that it compiles.
_said = False

# LLVM may fuse a multiplication and an addition, and ignore the sign of zero. NaN and infinity must be kept: they
# reveal divergence.
_FLOATS = {"contract", "nsz"}
# Also allow reordering sums; without it a dot product is not vectorised (8 times slower).
_SUMS = {"contract", "nsz", "reassoc"}


def compiled(parallel: bool = True, sums: bool = False, fuse: bool = True) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles a function, parallelising loops over ``numba.prange``.

    Args:
        parallel: the function has a loop over ``numba.prange``.
        sums: sums may be reordered (in the same way at every call).
        fuse: a multiplication and an addition may be fused into one operation, which rounds once.
    """

    def decorate(function: Callable[..., Any]) -> Any:
        options: dict[str, Any] = {
            "parallel": parallel,
            "fastmath": _SUMS if sums else _FLOATS if fuse else False,
            "error_model": "numpy",
            "nogil": True,  # let the read-ahead thread run
        }
        made = numba.njit(**options)(function)
        try:
            made._cache = _Cache(function)  # as cache=True does with numba's own cache
        except RuntimeError as error:  # neither the package's folder nor the user's cache is writable
            log.warning("%s is recompiled at every start: %s", function.__name__, error)
        return made

    return decorate


class _CacheFile(IndexDataCacheFile):
    """The cache files of one function, named by what they hold, so that processes can write concurrently.

    numba 0.68 numbers a function's files by its index. Two processes that compile the function for different array
    types, as cluster jobs of a fresh installation do, can take the same number; the index then maps one signature to
    the other's code. All later processes silently run it: a sum of int32 came out as 1e-44 (tests/core/test_jit.py).
    With unique names, the worst case is a missing entry, which is compiled again. numba 0.68.1 still numbers them.
    """

    def save(self, key: Any, data: Any) -> None:
        """Store ``data`` under ``key``: types, processor, and a hash of the function's code."""
        name = f"{self._index_name.removesuffix('.nbi')}.{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"
        self._save_data(name, data)  # first, so that the index never names a missing file
        index = self._load_index()
        if index.get(key) != name:
            self._save_index({**index, key: name})


class _Cache(FunctionCache):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        numbas = self._cache_file
        self._cache_file = _CacheFile(self._cache_path, self._impl.filename_base, numbas._source_stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Load the code for some types; without it numba compiles next, which is said once in a process."""
        global _said
        found = super().load_overload(sig, target_context)
        if found is None and not _said:
            _said = True
            log.info("loops are compiled for this processor, which takes some seconds; the next start finds them")
        return found


@compiled(parallel=False, sums=True)
def dot(a, b):  # type: ignore[no-untyped-def]
    """Return the dot product of two non-empty vectors, in their own precision."""
    total = a[0] * b[0]
    for d in range(1, len(a)):
        total += a[d] * b[d]
    return total


def mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A bijection of 64-bit numbers that scatters neighbours (the finaliser of SplitMix64).

    For comparing texts, and for noise that is not stored.
    """
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


#: The same of one number, for compiled loops.
mixed = compiled(parallel=False)(mix)


@functools.cache  # asked for each batch
def converts_float16() -> bool:
    """Whether compiled code can convert float16: on x86 by the instructions F16C, which some virtual machines hide.

    Without them LLVM calls a function that numba does not have, and the process dies.
    """
    triple, _, features = cpu_target.target_context.codegen().magic_tuple()
    return not triple.startswith("x86") or "+f16c" in features


def set_threads(threads: int) -> int:
    """Let compiled loops use ``threads`` threads, or all if there are fewer; return the previous number."""
    before: int = numba.get_num_threads()
    most: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    numba.set_num_threads(min(threads, most))
    return before
