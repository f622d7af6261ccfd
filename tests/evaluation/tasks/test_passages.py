"""Questions and the passages that answer them, in SQuAD's layout."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from psp.core.errors import DataError
from psp.evaluation.tasks import make
from psp.evaluation.tasks.passages import K1, B, _words, bm25, ranks
from psp.report import task_table
from tests.evaluation.tasks.conftest import DRAW, HASHED, sentences


def squad(path: Path, questions: dict[str, tuple[str, str]]) -> str:
    """Write questions, by id with their passage; the path."""
    paragraphs = [
        {"context": passage, "qas": [{"id": key, "question": question}]}
        for key, (question, passage) in questions.items()
    ]
    content = json.dumps({"data": [{"title": "t", "paragraphs": paragraphs}]}).encode()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)
    return str(path)


@given(hnp.arrays(np.int8, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.integers(0, 3)), st.data())
def test_ranks_are_places_in_a_stable_order(similarity: np.ndarray, data: st.DataObject) -> None:
    rows, columns = similarity.shape
    right = np.array(data.draw(st.lists(st.integers(0, columns - 1), min_size=rows, max_size=rows)))
    order = np.argsort(-similarity, axis=1, kind="stable")
    expected = [1 + order[row].tolist().index(right[row]) for row in range(rows)]
    assert ranks(similarity.astype(float), right).tolist() == expected


def test_bm25_is_its_formula() -> None:
    questions, passages = sentences(5, 1, words=4), sentences(30, 2, words=20)
    found = bm25(questions, passages)
    mean = np.mean([len(passage.split()) for passage in passages])
    for row, question in enumerate(questions):
        for column, passage in enumerate(passages):
            expected = 0.0
            for word in question.split():
                often, there = passage.split().count(word), sum(word in other.split() for other in passages)
                rare = np.log(1 + (30 - there + 0.5) / (there + 0.5))
                norm = K1 * (1 - B + B * len(passage.split()) / mean)
                expected += rare * often * (K1 + 1) / (often + norm)
            assert found[row, column] == pytest.approx(expected)
    assert _words("The 红车, x") == ["the", "红", "车", "x"]


def test_questions_find_their_passages(tmp_path: Path) -> None:
    passages = sentences(20, 1, words=12)
    asked = {f"q{n}": (" ".join(passages[n // 2].split()[:4]), passages[n // 2]) for n in range(40)}
    file = squad(tmp_path / "en.json.gz", asked)
    task = make({"task": "passages", "questions": file, "passages": file})
    parts = task.score(HASHED, DRAW)
    part = parts["all"]
    similarity = HASHED.cross([question for question, _ in asked.values()], passages)
    rank = ranks(similarity, np.arange(40) // 2)
    figures = part.report["figures"]
    assert (part.items, part.further["passages"]) == (40, 20)
    assert figures["mrr"]["value"] == pytest.approx(100 * (1 / rank).mean(), abs=1e-4)
    assert figures["recall@10"]["value"] == 100 * (rank <= 10).mean()
    assert figures["recall@1"]["interval"][0] <= figures["recall@1"]["value"] <= figures["recall@1"]["interval"][1]
    assert part.further["bm25"]["recall@1"] > 90
    scored = {"name": "qa", "model": "m", "task": "passages", "parts": {"all": part.described(task.metrics)}}
    assert f"qa: BM25 has mrr {part.further['bm25']['mrr']:.1f}, recall@1 " in task_table.table([scored]).write()
    assert parts["sentences"].report["figures"] == figures  # each passage is one sentence
    assert list(task.sentences()) == [question for question, _ in asked.values()]

    # Questions of one language, the passages of another; the same ids in any order, and some more.
    other = {"q99": ("?", "another"), **{key: ("?", passage) for key, (_, passage) in reversed(asked.items())}}
    task = make({"task": "passages", "questions": file, "passages": squad(tmp_path / "fr.json", other)})
    part = task.score(HASHED, DRAW)["all"]
    assert part.further == {"passages": 21} and part.items == 40


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"{", "not in SQuAD's layout"),
        (b"[]", "not in SQuAD's layout"),
        (b'{"data": [{"paragraphs": [{"context": "a", "qas": [{"id": 1}]}]}]}', "KeyError: 'question'"),
        (b'{"data": []}', "has no questions"),
        (b'{"data": [{"paragraphs": [{"context": "a", "qas": [{"id": 1, "question": "\\ud83d"}]}]}]}', "surrogates"),
        (b"\x1f\x8b\x08", "not in SQuAD's layout"),
    ],
)
def test_bad_input_is_one_line(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "bad.json").write_bytes(content)
    bad = str(tmp_path / "bad.json")
    with pytest.raises(DataError, match=rf"bad\.json: .*{said}"):
        make({"task": "passages", "questions": bad, "passages": bad}).score(HASHED, DRAW)


def test_ids_fit(tmp_path: Path) -> None:
    one, other = squad(tmp_path / "a.json", {"x": ("a", "b")}), squad(tmp_path / "b.json", {"y": ("a", "b")})
    with pytest.raises(DataError, match=r"a\.json: the question x is not in b\.json"):
        make({"task": "passages", "questions": one, "passages": other}).score(HASHED, DRAW)


def test_a_passages_best_sentence_counts(tmp_path: Path) -> None:
    every = sentences(120, 3, words=6)
    texts = [". ".join(every[4 * n : 4 * n + 4]) + "." for n in range(30)]
    asked = {f"q{n}": (" ".join(every[4 * n + 1].split()[:3]), text) for n, text in enumerate(texts)}
    file = squad(tmp_path / "en.json", asked)
    parts = make({"task": "passages", "questions": file, "passages": file}).score(HASHED, DRAW)
    scores = np.empty((30, 30))
    for row, (question, _) in enumerate(asked.values()):
        for column, text in enumerate(texts):
            whole = HASHED.cross([question], [text])[0, 0]
            best = max(HASHED.cross([question], [f"{one}."])[0, 0] for one in text.removesuffix(".").split(". "))
            scores[row, column] = (whole + max(whole, best)) / 2
    found = {name: part.report["figures"]["mrr"]["value"] for name, part in parts.items()}
    assert found["sentences"] == pytest.approx(100 * (1 / ranks(scores, np.arange(30))).mean(), abs=1e-4)
    assert found["sentences"] > found["all"] + 1


def test_xquad(psp_data: Path) -> None:
    file = str(psp_data / "eval/retrieval/xquad/xquad.en.json.gz")
    part = make({"task": "passages", "questions": file, "passages": file}).score(HASHED, DRAW)["all"]
    assert (part.items, part.further["passages"]) == (1190, 240)
    assert part.further["bm25"]["mrr"] == pytest.approx(95.0, abs=0.5)
