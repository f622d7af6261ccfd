"""Documents for queries, in BEIR's layout, against scikit-learn's nDCG."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from psp.core.errors import DataError
from psp.evaluation.baselines import WordOverlap
from psp.evaluation.tasks import BootstrapSpec, document_retrieval, make
from tests.evaluation.tasks.conftest import HASHED, sentences, write

DRAW = BootstrapSpec(resamples=200, seed=1, name="set")


@pytest.fixture
def beir(tmp_path: Path) -> Path:
    """70 documents and 12 queries, of which one has no judgement; grades of 0 to 2."""
    rng = np.random.default_rng(1)
    documents, queries = sentences(70, 1, words=20), sentences(12, 2, words=4)
    write(
        tmp_path / "corpus.jsonl",
        [
            json.dumps({"_id": f"d{n}", "title": f"t{n}" if n % 2 else "", "text": text})
            for n, text in enumerate(documents)
        ],
    )
    write(tmp_path / "queries.jsonl", [json.dumps({"_id": f"q{n}", "text": text}) for n, text in enumerate(queries)])
    judged = [
        f"q{query}\td{document}\t{rng.integers(0, 3)}"
        for query in range(11)
        for document in rng.choice(70, 15, replace=False)
    ]
    write(tmp_path / "qrels/test.tsv", ["query-id\tcorpus-id\tscore", *judged])
    return tmp_path


@pytest.mark.parametrize("block", [7, 1000])
@pytest.mark.parametrize("scorer", [HASHED, WordOverlap()])
def test_ndcg_is_scikit_learns(beir: Path, monkeypatch: pytest.MonkeyPatch, block: int, scorer: object) -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    monkeypatch.setattr(document_retrieval, "_BLOCK", block)
    task = make({"task": "document_retrieval", "path": str(beir)})
    documents, queries, grades = task.data
    part = task.score(scorer, DRAW)["all"]
    gold = np.zeros((len(queries), len(documents)))
    for row, of in enumerate(grades):
        gold[row, list(of)] = list(of.values())
    similarity = scorer.cross(queries, documents)
    order = np.argsort(np.argsort(-similarity, axis=1, kind="stable"), axis=1)  # equal ones in the corpus's order
    assert part.metrics["ndcg@10"].value == pytest.approx(
        100 * metrics.ndcg_score(gold, -order.astype(float), k=10), abs=1e-6
    )
    assert part.items == 11 and part.further == {"documents": 70}
    assert documents[1].startswith("t1 w") and documents[2].startswith("w")


def test_bad_input_is_one_line(beir: Path) -> None:
    entry = {"task": "document_retrieval", "path": str(beir)}
    head = "query-id\tcorpus-id\tscore"
    for name, rows, said in (
        ("qrels/test.tsv", [head, "q1\td99\t1"], "line 2: the id d99 is not in corpus.jsonl"),
        ("qrels/test.tsv", [head, "q1\td9\tyes"], "line 2: the score 'yes' is not a whole number"),
        ("qrels/test.tsv", [head, "q1\td9\t0"], "no relevant document for any query"),
        ("qrels/test.tsv", ["q1\td9\t1"], "line 1: the header has no column 'query-id'"),
        ("queries.jsonl", ["{"], "queries.jsonl, line 1: no JSON object with _id, text"),
        ("queries.jsonl", ['{"_id": "q0", "text": "\\ud83d"}'], "queries.jsonl, line 1: no JSON object with _id, text"),
        ("corpus.jsonl", ['{"_id": "1", "text": "a"}', '{"_id": 1, "text": "b"}'], "line 2: the _id 1 is given twice"),
    ):
        write(beir / name, rows)
        with pytest.raises(DataError, match=said):
            make(entry).score(HASHED, DRAW)
