"""Whether a model uses compiled code, and from when on.

Compiled code gives the same ids and the same vectors, so that this is about time alone. Importing numba takes half a
second, in which 50,000 sentences are embedded without it: so it is taken up when as many were asked for, and sooner
where numba is imported already. Where it was never used before, it is compiled first, which takes ten seconds.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from psp.errors import PspError

if TYPE_CHECKING:
    from psp.words import WordCache

log = logging.getLogger(__name__)

#: Sentences before numba is imported, and before compiled code is loaded where it is imported.
WORTH_IMPORT, WORTH_LOADING = 50_000, 20_000


class Accelerator:
    """Counts what a model is asked for, and says what shall do it.

    Args:
        wanted: from the first sentence on; never (False); or when it pays (None).
        cache: makes the words' cache.

    Raises:
        PspError: it is wanted, and numba is not installed.
    """

    def __init__(self, wanted: bool | None, cache: Callable[[], WordCache]) -> None:
        self._seen = 0
        self.wanted, self._cache_of = wanted, cache
        self._lock = threading.Lock()
        self._never = wanted is False or importlib.util.find_spec("numba") is None
        self.pooling: ModuleType | None = None
        """:mod:`psp.pooling`, once it is in use."""
        self.words: WordCache | None = None
        """The cache, once it is in use, of a model that can have one."""
        if wanted and self._never:
            raise PspError("accelerate=True needs a package: pip install 'psp[fast]'")
        if wanted:
            self._load()

    def expect(self, sentences: int) -> None:
        """Count sentences that are about to be embedded."""
        if self.pooling is None and not self._never:
            self._seen += sentences
            if self._seen >= (WORTH_LOADING if "numba" in sys.modules else WORTH_IMPORT):
                self._load()

    def _load(self) -> None:
        with self._lock:
            if self.pooling is not None:
                return
            import psp.pooling

            try:
                self.words = self._cache_of()
            except ValueError as error:
                log.info("sentences are encoded by sentencepiece alone: %s", error)
            self.pooling = psp.pooling
