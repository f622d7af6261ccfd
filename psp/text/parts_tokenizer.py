"""Several tokenizers as one, for encoders over several vocabularies that are trained together.

A sentence's ids are those of the first tokenizer, then those of the second, and so on, each shifted by the sizes of the
vocabularies before it. Stores, mining and the order of pairs need not know that there are several.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np

from psp.core.errors import DataError
from psp.text.tokenizer import Encoded, Folder, Tokenizer, offsets_of


class PartsTokenizer(Tokenizer):
    """Tokenizers side by side. A model's folder never holds one: it holds its parts (:mod:`psp.models.combined`).

    Args:
        parts: two tokenizers or more.
        config: as for :class:`psp.text.tokenizer.Tokenizer`; all parts read text so.
    """

    kind = "parts"

    def __init__(self, parts: Sequence[Tokenizer], config: Mapping[str, Any] | None = None) -> None:
        self._parts = tuple(parts)
        super().__init__(config)

    def _read(self, config: Mapping[str, Any]) -> None:
        super()._read(config)
        self._parts = tuple(part.with_preprocessing(config) for part in self._parts)

    @property
    def parts(self) -> tuple[Tokenizer, ...]:
        return self._parts

    def __len__(self) -> int:
        return self.starts[-1]

    @property
    def unknown_id(self) -> int:
        """The first part's; each part keeps and drops its own."""
        return self.parts[0].unknown_id

    def piece(self, number: int) -> str:
        part = next(n for n, stop in enumerate(self.starts[1:]) if number < stop)
        return self.parts[part].piece(number - self.starts[part])

    def _encode(self, texts: list[str], threads: int) -> Encoded:
        return self.join([part.encode_whole(texts, threads) for part in self.parts])

    def kept(self, whole: Encoded) -> Encoded:
        return self.join([part.kept(own) for part, own in zip(self.parts, self.divide(whole), strict=True)])

    def spellings(self) -> list[str] | None:
        return None  # they can be compared within a part only

    def decode(self, encoded: Encoded) -> list[str]:
        return self.parts[0].decode(self.divide(encoded)[0])

    def contents(self) -> dict[str, bytes]:
        return {
            f"{number}.{name}": content
            for number, part in enumerate(self.parts)
            for name, content in part.contents().items()
        }

    @classmethod
    def load(cls, folder: Folder, config: Mapping[str, Any]) -> Self:
        raise DataError("is the tokenizer of several models; psp.load_model loads them", str(folder / "config.json"))

    def join(self, encoded: Sequence[Encoded]) -> Encoded:
        """Put the ids that the parts give the same sentences side by side, int32."""
        shifted = [
            Encoded(one.ids.astype(np.int32) + start, one.offsets)
            for one, start in zip(encoded, self.starts[:-1], strict=True)
        ]
        n = len(encoded[0])
        # A sentence's ids of each part in turn, as sentences of their own; and then each such group as one sentence.
        groups = Encoded.join(shifted).take(np.arange(n * len(encoded)).reshape(len(encoded), n).T.ravel())
        return Encoded(groups.ids, groups.offsets[:: len(encoded)])

    def divide(self, encoded: Encoded) -> list[Encoded]:
        """The ids of each part in its own vocabulary, with their type unchanged: the inverse of :meth:`join`."""
        return divided(encoded, self.starts)


def divided(encoded: Encoded, starts: Sequence[int]) -> list[Encoded]:
    """Divide ids by ranges: the parts' ids, each less the first of its range.

    Args:
        encoded: sentences.
        starts: the first id of each range, and the end of the last; ascending.
    """
    parts = []
    for start, stop in itertools.pairwise(starts):
        mine = (encoded.ids >= start) & (encoded.ids < stop)
        offsets = offsets_of(mine)[encoded.offsets]
        parts.append(Encoded((encoded.ids[mine] - start).astype(encoded.ids.dtype), offsets))
    return parts
