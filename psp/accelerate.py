"""Whether a model uses compiled code, and from when on.

Compiled code gives the same ids and the same vectors, so that this is about time alone. Importing numba takes half a
second, in which 50,000 sentences are embedded without it: so it is taken up when as many were asked for, at once where
numba is imported already.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
from types import ModuleType

from psp.errors import PspError

log = logging.getLogger(__name__)

#: Sentences before numba is imported, and before compiled code is loaded where it is imported.
WORTH_IMPORT, WORTH_LOADING = 50_000, 2_000


class Accelerator:
    """Counts what a model is asked for, and says what shall do it.

    Args:
        wanted: from the first sentence on; never (False); or when it pays (None).

    Raises:
        PspError: it is wanted, and numba is not installed.
    """

    def __init__(self, wanted: bool | None = None) -> None:
        self._seen = 0
        self._pooling: ModuleType | None = None
        self._never = wanted is False or importlib.util.find_spec("numba") is None
        if wanted and self._never:
            raise PspError("accelerate=True needs a package: pip install 'psp[fast]'")
        if wanted:
            self._load()

    def pooling(self, sentences: int) -> ModuleType | None:
        """:mod:`psp.pooling`, where it shall be used for so many sentences more."""
        if self._pooling is None and not self._never:
            self._seen += sentences
            if self._seen >= (WORTH_LOADING if "numba" in sys.modules else WORTH_IMPORT):
                self._load()
        return self._pooling

    def _load(self) -> None:
        import psp.pooling

        self._pooling = psp.pooling
