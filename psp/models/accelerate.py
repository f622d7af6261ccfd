"""Decide whether and when a model uses compiled code, and whether torch computes its LSTM.

Compiled code gives the same ids and vectors, so only time matters. Importing numba takes half a second, in which 50,000
sentences can be embedded without it. So compiled code is loaded once that many were requested, or earlier if numba is
already imported. The very first use compiles the code, which takes ten seconds.

NumPy computes an LSTM unless torch is requested: torch's float32 is only slightly faster, and its import takes a
second. Torch's bfloat16 takes half the time on processors with bfloat16 multiplication, and gives different vectors.
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
from psp.core.machine import multiplies_bfloat16

if TYPE_CHECKING:
    from psp.models.lstm import Lstm
    from psp.text.tokenizer import Fast

log = logging.getLogger(__name__)

#: Sentences before numba is imported, and before compiled code is loaded where it is imported.
WORTH_IMPORT, WORTH_LOADING = 50_000, 20_000
#: What ``accelerate`` may be for LSTMs besides True, False and None; and the precision that it means.
LSTMS = {"torch": "float32", "bfloat16": "bfloat16"}


class Accelerator:
    """Counts a model's sentences and loads compiled code when it pays.

    Args:
        wanted: True: from the first sentence; False: never; None: when it pays.
        cache: creates the compiled encoder of text, or raises ValueError if there is none.

    Raises:
        PspError: ``wanted`` is true, and numba is not installed.
    """

    def __init__(self, wanted: bool | None, cache: Callable[[], Fast]) -> None:
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


def accelerated(contextual: Lstm | None, accelerate: bool | str | None) -> Lstm | None:
    """A model's LSTM, computed as ``accelerate`` requests.

    Raises:
        ValueError: the value is unknown, or the model has no LSTM.
        PspError: torch is needed, and is not installed.
    """
    if not isinstance(accelerate, str):
        return contextual
    if accelerate not in LSTMS:
        raise ValueError(f"accelerate is {accelerate!r}; it is True, False, None, {' or '.join(map(repr, LSTMS))}")
    if contextual is None:
        raise ValueError(
            f"accelerate={accelerate!r} is for LSTMs; this model is not one; write accelerate=True for compiled code"
        )
    if importlib.util.find_spec("torch") is None:
        raise PspError(f"accelerate={accelerate!r} needs torch: pip install torch")
    if accelerate == "bfloat16" and multiplies_bfloat16() is False:
        log.warning("this processor has no bfloat16 multiplication: accelerate='bfloat16' is slower than None")
    from psp.models.lstm_torch import TorchLstm

    return TorchLstm(contextual, LSTMS[accelerate])
