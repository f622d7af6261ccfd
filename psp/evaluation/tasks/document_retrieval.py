"""Retrieval of documents as in BEIR (Thakur et al., 2021): nDCG@10 of a ranking of the whole corpus by cosine.

A document is its title and its text. Gains are the relevance grades and discounts log2(rank + 1), as in trec_eval.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from psp.core.errors import DataError
from psp.core.settings import Setting, text
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Part, Task, columns, lines

DEPTH = 10
#: Documents compared at a time: with 1,000 queries 130 MB.
_BLOCK = 16_384


class DocumentRetrieval(Task):
    """Ranking of documents for queries; one part, ``all``. Queries without a judged document are left out."""

    kind = "document_retrieval"
    help = "search for documents (BEIR)"
    declared: ClassVar[Mapping[str, Setting]] = {
        "path": text(at_least=1, help="a folder with corpus.jsonl, queries.jsonl and qrels/<split>.tsv"),
        "split": text("test", at_least=1, help="the part of the judgements"),
    }
    metrics: ClassVar[Mapping[str, Measure]] = {
        "ndcg@10": Measure("normalised discounted cumulative gain of the first ten", PERCENT)
    }

    def files(self) -> list[Path]:
        folder = self.path("path")
        return [folder / "corpus.jsonl", folder / "queries.jsonl", folder / f"qrels/{self.settings['split']}.tsv"]

    @cached_property
    def data(self) -> tuple[list[str], list[str], list[dict[int, float]]]:
        """The documents, the judged queries, and for each query the grades of its documents by number."""
        corpus, queries, judgements = self.files()
        documents, asked = _texts(corpus, ("title", "text")), _texts(queries, ("text",))
        places = {key: place for place, key in enumerate(documents)}
        grades: dict[str, dict[int, float]] = {}
        for line, (query, document, grade) in columns(judgements, ("query-id", "corpus-id", "score"), header=True):
            for key, known, path in ((query, asked, queries), (document, places, corpus)):
                if key not in known:
                    raise DataError(f"the id {key} is not in {path.name}", judgements, line)
            if not re.fullmatch("-?[0-9]{1,9}", grade):
                raise DataError(f"the score {grade!r} is not a whole number", judgements, line)
            if int(grade) > 0:
                grades.setdefault(query, {})[places[document]] = float(grade)
        if not grades:
            raise DataError("no relevant document for any query", judgements)
        return list(documents.values()), [asked[query] for query in grades], list(grades.values())

    def sentences(self) -> Iterator[str]:
        """The queries; documents are too long to be training sentences."""
        yield from self.data[1]

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        documents, queries, grades = self.data
        rows = nearest(scorer, queries, documents)
        rankings = ([of.get(int(place), 0.0) for place in row] for row, of in zip(rows, grades, strict=True))
        gains = np.array([ndcg(ranking, of) for ranking, of in zip(rankings, grades, strict=True)])
        return {"all": Part(len(queries), {"ndcg@10": draw.mean(100 * gains)}, {"documents": len(documents)})}


def nearest(scorer: Scorer, queries: list[str], documents: list[str]) -> np.ndarray:
    """The ten most similar documents of each query, best first: int64 (queries, 10). Ties go to the first."""
    best: Floats = np.empty((len(queries), 0))
    places = np.empty((len(queries), 0), np.int64)
    for start in range(0, len(documents), _BLOCK):
        part = documents[start : start + _BLOCK]
        numbers = np.broadcast_to(np.arange(start, start + len(part)), (len(queries), len(part)))
        best, places = np.hstack([best, scorer.cross(queries, part)]), np.hstack([places, numbers])
        order = np.argsort(-best, axis=1, kind="stable")[:, :DEPTH]
        best, places = np.take_along_axis(best, order, axis=1), np.take_along_axis(places, order, axis=1)
    return places


def ndcg(gains: list[float], judged: Mapping[Any, float]) -> float:
    """nDCG@10 of a ranking: ``gains`` has the grades of the first documents, ``judged`` those of all relevant ones."""
    ideal = sorted(judged.values(), reverse=True)[:DEPTH]
    return _dcg(gains[:DEPTH]) / _dcg(ideal)


def _dcg(grades: list[float]) -> float:
    return float((np.array(grades) / np.log2(np.arange(2, len(grades) + 2))).sum())


def _texts(path: Path, keys: tuple[str, ...]) -> dict[str, str]:
    """The texts of a file of JSON objects, by ``_id``; the values of ``keys`` joined by a space."""
    by_id: dict[str, str] = {}
    for number, line in enumerate(lines(path), start=1):
        try:
            entry = json.loads(line)
            key, words = str(entry["_id"]), [str(entry.get(name) or "") for name in keys]
            "".join([key, *words]).encode()  # JSON can hold half a surrogate pair, which no UTF-8 can
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise DataError(f"no JSON object with _id, {', '.join(keys)}", path, number) from None
        if key in by_id:
            raise DataError(f"the _id {key} is given twice", path, number)
        by_id[key] = " ".join(filter(None, (word.strip() for word in words)))
    return by_id
