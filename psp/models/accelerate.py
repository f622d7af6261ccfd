"""Decide whether and when a model uses compiled code.

Compiled code gives the same ids and vectors, so only time matters. Importing numba takes half a second, in which 50,000
sentences can be embedded without it. So compiled code is loaded once that many were requested, or earlier if numba is
already imported. The very first use compiles the code, which takes ten seconds.
"""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING

from psp.core.errors import PspError

if TYPE_CHECKING:
    from psp.text.tokenizer import Fast

log = logging.getLogger(__name__)

#: Sentences before numba is imported, and before compiled code is loaded where it is imported.
WORTH_IMPORT, WORTH_LOADING = 50_000, 20_000


class Accelerator:
    """Counts a model's sentences and loads compiled code when it pays.

    Args:
        wanted: True: from the first sentence; False: never; None: when it pays.
        cache: creates the compiled encoder of text, or raises ValueError if there is none.

    Raises:
        PspError: ``wanted`` is true, and numba is not installed.
        ValueError: ``wanted`` is a string, which only transformers have.
    """

    def __init__(self, wanted: bool | str | None, cache: Callable[[], Fast]) -> None:
        if isinstance(wanted, str):
            raise ValueError(f"accelerate is {wanted!r}; it is True, False or None for models that are no transformers")
        self._seen = 0
        self.wanted, self._cache_of = wanted, cache
        self._lock = threading.Lock()
        self._never = wanted is False or importlib.util.find_spec("numba") is None
        self.pooling: ModuleType | None = None
        """:mod:`psp.models.pooling`, once it is in use."""
        self.words: Fast | None = None
        """The compiled encoder of text, once it is in use, if the tokenizer has one."""
        if wanted and self._never:
            raise PspError("accelerate=True needs numba: pip install 'paraphrastic[fast]'")
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
            import psp.models.pooling

            try:
                self.words = self._cache_of()
            except ValueError as error:
                log.info("sentences are encoded without compiled code: %s", error)
            self.pooling = psp.models.pooling
