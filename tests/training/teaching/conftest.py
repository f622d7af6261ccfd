"""A store of text and pairs, and a teacher that is a small model of psp's."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import sentencepiece

from psp.core.files import read_json
from psp.models.folder import save_model
from psp.pairs.store import write_store
from psp.training.teaching.teach import teach
from tests.conftest import write_mixed
from tests.training.conftest import corpus

TEACHER = {"languages": ["en"], "lower_case": True, "segment": {}, "recipe": "psp"}
CORPORA = [(("en", "en"), True), (("en", "fr"), False)]


class Case(NamedTuple):
    pairs: Path
    store: Path
    sentencepiece: Path
    teacher: Path
    text: list[str]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """400 sentences of text, some of them twice, and 200 pairs, whose first side the teacher knows."""
    folder = tmp_path_factory.mktemp("case")
    english, french = corpus(600, seed=3)
    text = english[:400]
    rows = [(line, line, 0) for line in [*text, *text[:10]]]
    rows += [(a, b, 1) for a, b in zip(english[395:595], french[395:595], strict=True)]
    mixed = write_mixed(folder / "mix.tsv", rows)
    made = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*english, *french]), model_writer=made, vocab_size=300, hard_vocab_limit=False,
        minloglevel=2,
    )  # fmt: skip
    (folder / "sentencepiece.model").write_bytes(made.getvalue())
    table = np.random.default_rng(5).standard_normal((300, 16)).astype(np.float32)
    save_model(folder / "teacher", table, folder / "sentencepiece.model", TEACHER)
    write_store(
        mixed, folder / "sentencepiece.model", folder / "store.h5", languages=["en", "fr"],
        corpora=["text", "pairs"], corpus_languages=[pair for pair, _ in CORPORA],
    )  # fmt: skip
    return Case(mixed, folder / "store.h5", folder / "sentencepiece.model", folder / "teacher", text)


def settings(case: Case, **changes: Any) -> dict[str, Any]:
    return {"encoder": str(case.teacher), "languages": ["en"], "centres": 6, "neighbours": 4, "among": 8, **changes}


def taught(case: Case, folder: Path, **changes: Any) -> Path:
    wanted = settings(case, **changes)
    out = folder / "teacher.safetensors"
    report = teach(case.pairs, out, folder / "teacher.json", cache=folder / "cache", settings=wanted, corpora=CORPORA)
    assert report == read_json(folder / "teacher.json")
    return out
