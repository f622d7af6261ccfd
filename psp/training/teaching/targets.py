"""A teacher's vectors of a store's sentences, in the safetensors file that the rule ``teach`` writes.

| tensor | type | shape | what |
|---|---|---|---|
| vectors | float16 | (sentences, dim) | the teacher's unit vectors, centred or not, of distinct sentences in a random order |
| rows | int32 | (pairs, 2) | which of them each pair's source and target have; -1: none. -2 as the target: a sentence of a text, and no pair |
| nearest | int32 | (sentences, among) | the nearest others of each sentence; only for losses over neighbourhoods |

Its metadata has one entry, ``psp-teacher``: JSON with what the report teacher.json says, and a sample of the pairs' text.
"""  # noqa: E501

from __future__ import annotations

import json
import struct
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from psp.config.blocks.teacher import TeacherSettings
from psp.core.errors import DataError
from psp.pairs.encoded_pairs import ChangedPairs, PairSource
from psp.pairs.store import encode_side
from psp.text.tokenizer import Encoded, Tokenizer

FORMAT, KIND = 1, "psp-teacher"
#: In ``rows``: a sentence without a vector; and, as the target, one that has no other side.
NONE, TEXT = -1, -2
_READ = 65_536  # pairs of the store at a time


class DistillationTargets:
    """Reads the file of a teacher; ``len`` is the number of sentences. Vectors stay on disk until they are used.

    Attributes:
        path: the file.
        about: what teacher.json says.
        vectors: float16 (sentences, dim), unit vectors.
        rows: int32 (pairs, 2).
        nearest: int32 (sentences, among), or None.

    Raises:
        DataError: no such file, or it is damaged or another kind of file.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        types = {"F16": "<f2", "I32": "<i4"}
        try:
            with self.path.open("rb") as file:
                (length,) = struct.unpack("<Q", file.read(8))
                if length > self.path.stat().st_size:
                    raise ValueError("its header is truncated")
                entries = json.loads(file.read(length))
            self.about: dict[str, Any] = json.loads(entries.pop("__metadata__")[KIND])
            self._sample: list[list[Any]] = self.about.pop("sample")
            tensors = {
                name: np.memmap(
                    self.path, types[entry["dtype"]], "r", 8 + length + entry["data_offsets"][0], tuple(entry["shape"])
                )
                for name, entry in entries.items()
            }
            self.vectors, self.rows, self.nearest = tensors["vectors"], tensors["rows"], tensors.get("nearest")
        except OSError as error:
            raise DataError(f"cannot be read: {error.strerror or error}; run the step teach", self.path) from None
        except (ValueError, KeyError, TypeError, struct.error) as error:
            raise DataError(f"damaged, or not the file of a teacher ({error}); make it again", self.path) from None
        if self.about.get("format") != FORMAT:
            raise DataError(
                f"of the format {self.about.get('format')}, but this psp reads {FORMAT}; make it again", self.path
            )

    def __len__(self) -> int:
        return len(self.vectors)

    def check(self, pairs: Any, tokenizer: Tokenizer, settings: TeacherSettings) -> None:
        """Check that this is the file of these pairs and of this teacher.

        Args:
            pairs: a store, or text (:class:`psp.pairs.text_pairs.TextPairs`).
            tokenizer: of the pairs' ids.
            settings: the block ``teacher``.

        Raises:
            DataError: it is from another run: another teacher, or other pairs.
        """
        again = "the file is from another run; run the step teach again"
        for key in ("encoder", "precision"):
            if self.about[key] != getattr(settings, key):
                raise DataError(f"{key} was {self.about[key]}, and now is {getattr(settings, key)}; {again}", self.path)
        centred = self.about["centred"]
        if settings.centred not in (None, centred):
            raise DataError(f"centred was {centred}, and now is {settings.centred}; {again}", self.path)
        wanted = min(settings.among, len(self) - 1) if settings.in_neighbourhoods else 0
        if wanted and self.about["among"] != wanted:
            raise DataError(f"has {self.about['among']} neighbours of each sentence, not {wanted}; {again}", self.path)
        if len(self.rows) != len(pairs):
            raise DataError(f"for {len(self.rows):,} pairs, but {pairs.path} has {len(pairs):,}; {again}", self.path)
        for number, *sides in self._sample:
            block = pairs.read(number, number + 1)
            for side, text in zip((block.source, block.target), sides, strict=True):
                ids, _ = encode_side(tokenizer, [text], pairs.max_pieces)
                if not np.array_equal(ids.ids, side.ids):
                    raise DataError(f"pair {number + 1:,} differs in {pairs.path}; {again}", self.path)

    def check_text(self, first: int, columns: Sequence[Sequence[str]]) -> None:
        """Check that pairs, given as text from number ``first`` on, are those of the file.

        Raises:
            DataError: they are not.
        """
        for number, *sides in self._sample:
            if first <= number < first + len(columns[0]):
                pair = [side[number - first] for side in columns[:2]]
                if pair != sides:
                    raise DataError(
                        f"pair {number + 1:,} has changed; the file is from another run; run the step teach again",
                        self.path,
                    )

    def beside(self, pairs: PairSource) -> PairSource:
        """Pairs, each with the rows of its sentences among the teacher's."""
        return ChangedPairs(
            pairs,
            lambda block, start: block._replace(teacher_rows=self.rows[start : start + len(block.source)]),
        )

    def sentences(self, pairs: PairSource) -> Encoded:
        """The ids of the teacher's sentences, in the order of its vectors; all in memory."""
        seen = np.zeros(len(self), dtype=bool)
        rows: list[npt.NDArray[np.int32]] = []
        parts: list[Encoded] = []
        for start in range(0, len(pairs), _READ):
            block = pairs.read(start, min(start + _READ, len(pairs)))
            for side, sentences in enumerate((block.source, block.target)):
                teacher_rows, first = np.unique(self.rows[start : start + len(sentences), side], return_index=True)
                new = (teacher_rows >= 0) & ~seen[teacher_rows.clip(min=0)]
                seen[teacher_rows[new]] = True
                rows.append(teacher_rows[new])
                parts.append(sentences.take(first[new]))
        if not seen.all():
            raise DataError("has vectors of sentences that no pair has; make it again", self.path)
        return Encoded.join(parts).take(np.argsort(np.concatenate(rows)))
