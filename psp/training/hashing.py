"""A hash of 64-bit numbers, for comparing texts and for noise that is not stored."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from psp.core.jit import compiled


def mix(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """A bijection of 64-bit numbers that scatters neighbours (the finaliser of SplitMix64)."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


#: The same of one number, for compiled loops.
mixed = compiled(parallel=False)(mix)
