"""Vectors that several tests search among."""

from __future__ import annotations

import numpy as np
import pytest

from psp.inference.search.vectors import unit


@pytest.fixture(scope="module")
def crowd():
    """1,500 rows, of which 100 and one are copies; and queries beside that one and elsewhere."""
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((1500, 24)).astype(np.float32)
    rows[rng.permutation(np.arange(18, 1500))[:100]] = rows[17]
    queries = np.concatenate([rows[17] + 0.01 * rng.standard_normal((40, 24)), rng.standard_normal((160, 24))])
    return unit(queries.astype(np.float32))[0], unit(rows)[0]
