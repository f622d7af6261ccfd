"""When a model takes up compiled code: from the first sentence, when it pays, or never."""

from __future__ import annotations

import importlib.util
import logging
import sys
import threading

import pytest

import psp.models.pooling
from psp.core.errors import PspError
from psp.models import static
from psp.models.static import WORTH_IMPORT, WORTH_LOADING, Accelerator

CACHE = object()


class Cache:
    """Makes the words' cache, and counts how often."""

    def __init__(self, error: str | None = None) -> None:
        self.error, self.made = error, 0

    def __call__(self):
        self.made += 1
        if self.error:
            raise ValueError(self.error)
        return CACHE


def in_use(accelerator: Accelerator) -> bool:
    return accelerator.pooling is psp.models.pooling


def test_where_it_is_wanted_it_is_there_at_once():
    made = Cache()
    accelerator = Accelerator(True, made)
    assert in_use(accelerator) and accelerator.words is CACHE and made.made == 1
    accelerator.expect(10**9)
    assert made.made == 1


def test_where_it_is_not_wanted_it_never_comes():
    made = Cache()
    accelerator = Accelerator(False, made)
    accelerator.expect(10**9)
    assert accelerator.pooling is None and accelerator.words is None and made.made == 0


@pytest.mark.parametrize(("imported", "worth"), [(True, WORTH_LOADING), (False, WORTH_IMPORT)])
def test_else_it_comes_with_the_sentence_from_which_on_it_pays(monkeypatch, imported, worth):
    if imported:
        monkeypatch.setitem(sys.modules, "numba", sys)
    else:
        monkeypatch.delitem(sys.modules, "numba", raising=False)
    made = Cache()
    accelerator = Accelerator(None, made)
    accelerator.expect(worth - 10)
    accelerator.expect(9)
    assert accelerator.pooling is None and made.made == 0
    accelerator.expect(1)
    assert in_use(accelerator) and made.made == 1
    accelerator.expect(1)
    assert made.made == 1


def test_a_model_without_a_cache_has_its_sums_compiled_and_says_why(caplog):
    with caplog.at_level(logging.INFO):
        accelerator = Accelerator(True, Cache("it is not a unigram model"))
    assert in_use(accelerator) and accelerator.words is None
    assert caplog.messages == ["sentences are encoded without compiled code: it is not a unigram model"]


def test_without_numba_it_is_refused_where_wanted_and_else_left_out(monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        static.importlib.util, "find_spec", lambda name, *more: None if name == "numba" else find(name, *more)
    )
    with pytest.raises(PspError, match=r"accelerate=True needs numba: pip install 'paraphrastic\[fast\]'"):
        Accelerator(True, Cache())
    accelerator = Accelerator(None, Cache())
    accelerator.expect(10**9)
    assert accelerator.pooling is None


def test_threads_that_ask_at_once_make_one_cache():
    made = Cache()
    accelerator = Accelerator(None, made)
    together = threading.Barrier(8)

    def ask() -> None:
        together.wait()
        accelerator.expect(WORTH_IMPORT)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert in_use(accelerator) and made.made == 1
