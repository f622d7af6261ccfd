"""Random samples that do not depend on the order of what is drawn from: the items with the smallest seeded hashes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

import numpy as np

T = TypeVar("T")


class HashDraw(Generic[T]):
    """The items with the smallest hashes among all that were offered, each hash once.

    So every distinct item is equally likely, and one that occurs a million times counts once.

    Args:
        size: items to keep; up to twice as many are held.
        join: what stands for two items of one hash; by default the first.
    """

    def __init__(self, size: int, join: Callable[[T, T], T] = lambda held, item: held) -> None:
        self._size, self._join = size, join
        self._held: dict[bytes, T] = {}
        self._last: bytes | None = None  # of as many as are kept

    def wants(self, key: bytes) -> bool:
        """Whether an item with this hash may be among those with the smallest ones."""
        return self._last is None or key <= self._last

    @property
    def limit(self) -> np.uint64:
        """An item whose hash begins with a larger number is not wanted any more."""
        return np.uint64(2**64 - 1 if self._last is None else int.from_bytes(self._last[:8], "big"))

    def add(self, key: bytes, item: T) -> None:
        """Offer an item by its hash."""
        if self.wants(key):
            self._held[key] = self._join(self._held[key], item) if key in self._held else item
            if len(self._held) >= 2 * self._size + 2:
                self._cut()

    def _cut(self) -> None:
        keys = sorted(self._held)[: self._size]
        self._held = {key: self._held[key] for key in keys}
        if keys and len(keys) == self._size:
            self._last = keys[-1]

    def items(self) -> list[T]:
        """The items, in the order of their hashes, which is random."""
        self._cut()
        return list(self._held.values())
