"""Search for the passage that answers a question: by the cosine of the two vectors, and by the mean of this cosine and
that of the passage's best sentence, as ``psp search --passages`` does.

The files are in the layout of SQuAD, which XQuAD (Artetxe et al., 2020) has in eleven languages with the same ids: so
questions of one language can be asked of the passages of another. Where both are one file, BM25 (Robertson & Zaragoza,
2009) is scored beside the system. A question's rank is one more than the number of better passages; of equal ones the
first is better.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Text, setting
from psp.core.errors import DataError
from psp.core.files import opened
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Metric, Part, Task
from psp.text.sentences import split_sentences
from psp.text.words import unspaced_words

#: BM25's saturation of counts, and its share of the normalisation by length.
K1, B = 1.2, 0.75


class Passages(Task):
    """The passages that answer questions, by their vectors (``all``) and by those of their sentences, too
    (``sentences``).
    """

    kind = "passages"
    help = "search for the passages that answer questions"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        questions: Text = setting(..., "the file of the questions, in SQuAD's layout (.json or .json.gz)")
        passages: Text = setting(..., "the file of the passages: the same, or that of another language")

    metrics: ClassVar[Mapping[str, Measure]] = {
        "mrr": Measure("mean reciprocal rank of the passage that answers a question", PERCENT),
        "recall@1": Measure("share of questions whose passage is the first", PERCENT),
        "recall@10": Measure("share of questions whose passage is among the first ten", PERCENT),
    }
    paths = frozenset({"questions", "passages"})

    def files(self) -> list[Path]:
        return [self.path("questions"), self.path("passages")]

    @cached_property
    def data(self) -> tuple[list[str], list[str], npt.NDArray[np.int64]]:
        """The questions, the distinct passages, and the passage of each question by its number, int64 (questions,)."""
        asked, there = self.files()
        questions = {key: question for _, key, question in _read(asked)}
        passages: dict[str, int] = {}
        of_question = {key: passages.setdefault(context, len(passages)) for context, key, _ in _read(there)}
        if missing := next((key for key in questions if key not in of_question), None):
            raise DataError(f"the question {missing} is not in {there.name}", asked)
        return list(questions.values()), list(passages), np.array([of_question[key] for key in questions], np.int64)

    def sentences(self) -> Iterator[str]:
        """The questions; passages are too long to be training sentences."""
        yield from self.data[0]

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        questions, passages, right = self.data
        further: dict[str, Any] = {"passages": len(passages)}
        asked, there = self.files()
        if asked == there:
            found = _metrics(ranks(bm25(questions, passages), right), draw)
            further["bm25"] = {name: metric.report["value"] for name, metric in found.items()}
        whole = scorer.cross(questions, passages)
        both = (whole + _best_sentences(scorer, questions, passages, whole)) / 2
        return {
            "all": Part(len(questions), _metrics(ranks(whole, right), draw), further),
            "sentences": Part(len(questions), _metrics(ranks(both, right), draw), {"passages": len(passages)}),
        }


def _best_sentences(scorer: Scorer, questions: list[str], passages: list[str], whole: Floats) -> Floats:
    """The similarity of each passage's best sentence, or of the passage if that is more similar."""
    parts = [split_sentences(passage) for passage in passages]
    of_sentences = scorer.cross(questions, [part for every in parts for part in every])
    best, end = whole.copy(), 0
    for place, every in enumerate(parts):
        start, end = end, end + len(every)
        best[:, place] = np.maximum(best[:, place], of_sentences[:, start:end].max(axis=1, initial=-np.inf))
    return best


def ranks(similarity: Floats, right: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The rank, from 1, of each row's right column, int64 (rows,); of equal columns the first is better."""
    own = similarity[np.arange(len(right)), right][:, None]
    before = np.arange(similarity.shape[1]) < right[:, None]
    return 1 + ((similarity > own) | ((similarity == own) & before)).sum(axis=1)


def bm25(questions: list[str], passages: list[str]) -> Floats:
    """The scores of passages for questions, float64 (questions, passages).

    Words are lower-cased; of scripts without spaces, each character is one.
    """
    counts = [Counter(_words(passage)) for passage in passages]
    lengths = np.array([count.total() for count in counts], np.float64)
    norm = K1 * (1 - B + B * lengths / max(lengths.mean(), 1))
    places: dict[str, list[int]] = {}
    for place, count in enumerate(counts):
        for word in count:
            places.setdefault(word, []).append(place)
    scores = np.zeros((len(questions), len(passages)))
    for row, question in enumerate(questions):
        for word in _words(question):
            if there := places.get(word):
                often = np.array([counts[place][word] for place in there], np.float64)
                rare = np.log1p((len(passages) - len(there) + 0.5) / (len(there) + 0.5))
                scores[row, there] += rare * often * (K1 + 1) / (often + norm[there])
    return scores


def _words(text: str) -> list[str]:
    return [word for word in unspaced_words(text.lower()) if any(map(str.isalnum, word))]


def _metrics(rank: npt.NDArray[np.int64], draw: BootstrapSpec) -> dict[str, Metric]:
    return {
        "mrr": draw.mean(100 / rank),
        "recall@1": draw.mean(np.where(rank <= 1, 100.0, 0.0)),
        "recall@10": draw.mean(np.where(rank <= 10, 100.0, 0.0)),
    }


def _read(path: Path) -> Iterator[tuple[str, str, str]]:
    """Yield passage, question's id and question of a file in SQuAD's layout.

    Raises:
        DataError: the file cannot be read, is of another layout, or gives an id twice.
    """
    known: set[str] = set()
    with opened(path, regular=True) as (_, file):
        content = file.read()
    try:
        for article in json.loads(content)["data"]:
            for paragraph in article["paragraphs"]:
                for asked in paragraph["qas"]:
                    row = str(paragraph["context"]), str(asked["id"]), str(asked["question"])
                    "".join(row).encode()  # JSON can hold half a surrogate pair, which no UTF-8 can
                    if row[1] in known:
                        raise DataError(f"the id {row[1]} is given twice", path)
                    known.add(row[1])
                    yield row
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise DataError(
            f"not in SQuAD's layout, data > paragraphs > context, qas > id, question ({type(error).__name__}: {error})",
            path,
        ) from None
    if not known:
        raise DataError("has no questions", path)
