"""Search among passages, each several sentences long.

The mean of a passage's subwords blurs what its sentences say: a passage's score is the mean of two cosines to the
query, that of its own vector and that of the sentence nearest to the query. On XQuAD this is worth 7 to 9 points of
mean reciprocal rank within a language (docs/guide/search.md).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from psp.core.errors import DataError
from psp.core.logs import Progress
from psp.inference.search.neighbours import EXTRA, merged
from psp.inference.search.vectors import embed, from_stored, nothing_known, to_stored
from psp.models.text_model import TextModel
from psp.text.lines import LineFile
from psp.text.sentences import split_sentences

#: Passages embedded, and compared with the queries, at a time: some 6,000 sentences.
CHUNK = 1024


class PassageHit(NamedTuple):
    """A passage found for a query.

    Attributes:
        score: the mean of the passage's cosine and of its best sentence's, -1 to 1.
        id: the passage's.
        sentence: the sentence nearest to the query.
        text: the passage.
    """

    score: float
    id: str
    sentence: str
    text: str


@dataclass(frozen=True)
class _Block:
    """Passages side by side.

    Attributes:
        rows: stored unit vectors (rows, dim): of each passage its own, then those of its sentences.
        starts: int64 (passages + 1,), each passage's first row, and the end.
        lines: int64 (passages,), each passage's line number, from 0.
        sentences: int64 (rows,), the number of a row's sentence in its passage; 0 for the passage's own row.
    """

    rows: np.ndarray
    starts: np.ndarray
    lines: np.ndarray
    sentences: np.ndarray

    def scores(self, queries: np.ndarray) -> np.ndarray:
        """Of queries, float32 (queries, dim): float32 (queries, passages)."""
        cosines = queries @ from_stored(self.rows, np.float32).T
        starts = self.starts[:-1]
        scores: np.ndarray = (cosines[:, starts] + np.maximum.reduceat(cosines, starts, axis=1)) / 2
        return scores

    def hit(self, query: np.ndarray, passage: int) -> tuple[float, int, int]:
        """The score in float64, which no batch changes; the passage's line and its best sentence."""
        start, end = self.starts[passage : passage + 2]
        rows = from_stored(self.rows[start:end], np.float64)
        cosines = np.clip(np.einsum("rd,d->r", rows, query.astype(np.float64)), -1, 1)
        best = int(cosines.argmax())
        return float(cosines[0] + cosines[best]) / 2, int(self.lines[passage]), int(self.sentences[start + best])


class PassageIndex:
    """The vectors of passages and of their sentences, in memory.

    Args:
        model: the model.
        corpus: passages, one per line: id, a tab, the text.
        dtype: in which vectors are stored: float32, float16 or int8.

    Raises:
        DataError: a line has no tab, or no passage has a known piece.
    """

    def __init__(self, model: TextModel, corpus: LineFile, dtype: str = "float32") -> None:
        self.model, self.corpus = model, corpus
        self._blocks: list[_Block] = []
        line = 0
        with Progress(f"embedding {corpus.path.name}", "passages", len(corpus)) as bar:
            for lines in corpus.chunks(CHUNK):
                self._add(
                    [self._parted(one, line + place)[1] for place, one in enumerate(lines)], line, np.dtype(dtype)
                )
                line += len(lines)
                bar.add(len(lines))
        if not self._blocks:
            raise nothing_known(corpus)
        self._ends = np.cumsum([len(block.lines) for block in self._blocks])

    def _parted(self, line: str, number: int) -> tuple[str, str]:
        key, tab, text = line.partition("\t")
        if not tab:
            raise DataError("no tab; write the passage's id, a tab and its text", self.corpus.path, number + 1)
        return key, text

    def _add(self, texts: list[str], line: int, dtype: np.dtype) -> None:
        parts = [[text, *split_sentences(text)] for text in texts]
        firsts = np.cumsum([0, *map(len, parts)])
        vectors, kept = embed(self.model, [part for every in parts for part in every])
        passages = np.searchsorted(firsts, kept, side="right") - 1
        known = np.isin(firsts[passages], kept)  # the passage itself has a vector
        vectors, kept, passages = vectors[known], kept[known], passages[known]
        lines, starts = np.unique(passages, return_index=True)
        if len(lines):
            ends = np.append(starts, len(kept))
            self._blocks.append(_Block(to_stored(vectors, dtype), ends, lines + line, kept - firsts[passages]))

    def search(self, queries: Sequence[str], k: int = 10) -> list[list[PassageHit]]:
        """Return the k best passages of each query, best first, ties to the earlier line.

        A query without a known piece has no hits; a small corpus yields fewer than k.

        Args:
            queries: texts; memory grows with their number.
            k: 1 or more.
        """
        vectors, kept = embed(self.model, queries)
        best = np.zeros((len(vectors), 0), np.float32), np.zeros((len(vectors), 0), np.int64)
        for block, end in zip(self._blocks, self._ends, strict=True):
            scores = block.scores(vectors)
            numbers = np.broadcast_to(np.arange(end - len(block.lines), end), scores.shape)
            best = merged(best, (scores, numbers), k + EXTRA)
        hits: list[list[PassageHit]] = [[] for _ in queries]
        for query, vector, numbers in zip(kept.tolist(), vectors, best[1], strict=True):
            exact = sorted((self._hit(vector, number) for number in numbers), key=lambda hit: (-hit[0], hit[1]))
            for score, line, sentence in exact[:k]:
                key, text = self._parted(self.corpus[line], line)
                hits[query].append(PassageHit(score, key, [text, *split_sentences(text)][sentence], text))
        return hits

    def _hit(self, query: np.ndarray, passage: int) -> tuple[float, int, int]:
        place = int(np.searchsorted(self._ends, passage, side="right"))
        block = self._blocks[place]
        return block.hit(query, passage - int(self._ends[place]) + len(block.lines))
