"""Systems without training, eval.json and compare.json, with a real sentencepiece model, store and model folder."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest
import sentencepiece
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.core.files import read_json
from psp.evaluation.compare import (
    WordOverlap,
    compare,
    piece_counts,
    random_table,
    sif_weights,
    untrained,
    words,
)
from psp.evaluation.evaluate import evaluate_model
from psp.models.folder import save_model
from psp.models.model import load_model
from psp.pairs.store import write_store
from psp.report.eval_table import table

LETTERS = "abcdefghijklmnop"
TEXTS = st.lists(st.text(alphabet="ab ,.É\u2028क्ष", max_size=8), min_size=1, max_size=6)


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A sentencepiece model, a store and a model folder over a made-up language of a few hundred words."""
    folder = tmp_path_factory.mktemp("made")
    rng = np.random.default_rng(0)
    vocabulary = ["".join(rng.choice(list(LETTERS), rng.integers(2, 6))) for _ in range(300)]
    lines = [" ".join(rng.choice(vocabulary, 8, p=_zipf(300))) for _ in range(1200)]
    with (folder / "sentencepiece.model").open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(lines), model_writer=file, vocab_size=200, minloglevel=2, hard_vocab_limit=False
        )
    pairs = list(zip(lines[:600], lines[600:], strict=True))
    (folder / "mix.tsv").write_text("".join(f"{source}\t{target}\t0\n" for source, target in pairs))
    write_store(
        folder / "mix.tsv",
        folder / "sentencepiece.model",
        folder / "store.h5",
        languages=["en", "fr"],
        corpora=["Made"],
    )
    size = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.model")).get_piece_size()
    weight = np.random.default_rng(1).standard_normal((size, 32)).astype(np.float32)
    save_model(
        folder / "model", weight, folder / "sentencepiece.model", {"languages": ["en", "fr"], "lower_case": True}
    )
    graded = [
        (step, line, " ".join([*line.split()[:step], *other.split()[step:]]))
        for line, other in pairs[:40]
        for step in range(0, 9, 2)
    ]
    (folder / "graded.tsv").write_text("".join(f"{score}\t{a}\t{b}\n" for score, a, b in graded))
    (folder / "fr").write_text("\n".join(lines[:50]))
    (folder / "en").write_text("\n".join(line.upper() for line in lines[:50]))
    tests = {
        "languages": ["en", "fr"],
        "files": {"graded": folder / "graded.tsv"},
        "tatoeba": {"fr": (folder / "fr", folder / "en")},
        "resamples": 50,
    }
    return SimpleNamespace(folder=folder, model=folder / "model", store=folder / "store.h5", lines=lines, tests=tests)


def _zipf(n):
    weights = 1 / np.arange(1, n + 1)
    return weights / weights.sum()


@given(TEXTS, TEXTS)
def test_word_overlap_is_the_cosine_of_sets_of_words(a, b):
    cross = WordOverlap().cross(a, b)
    assert cross.shape == (len(a), len(b))
    for i, one in enumerate(a):
        for j, other in enumerate(b):
            x, y = set(words(one)), set(words(other))
            expected = len(x & y) / (len(x) * len(y)) ** 0.5 if x and y else 0.0
            assert cross[i, j] == pytest.approx(expected)
            assert WordOverlap().pairwise([one], [other])[0] == pytest.approx(expected)


def test_words_are_lower_cased_and_punctuation_is_split_off():
    assert words("It's 5 O'Clock,\u00a0d'ÉTÉ.") == ["it", "'", "s", "5", "o", "'", "clock", ",", "d", "'", "été", "."]
    assert words("हिन्दी।") == ["हिन्दी", "।"]  # a word keeps its combining vowels


def test_word_overlap_needs_as_many_on_both_sides():
    with pytest.raises(ValueError, match="2 texts against 1"):
        WordOverlap().pairwise(["a", "b"], ["a"])


def test_pieces_are_counted_over_both_sides(made, monkeypatch):
    monkeypatch.setattr("psp.evaluation.compare._BLOCK", 7)
    model = load_model(made.model)
    counts = piece_counts(made.store, made.folder / "sentencepiece.model")
    expected = np.zeros(model.vocab_size, dtype=np.int64)
    for line in made.lines:
        for piece in model.sentencepiece.encode(line):
            expected[piece] += 1
    np.testing.assert_array_equal(counts, expected)


def test_a_store_of_other_subwords_is_refused(made, tmp_path):
    other = tmp_path / "other.model"
    other.write_bytes((made.folder / "sentencepiece.model").read_bytes() + b"\0")
    with pytest.raises(DataError, match=r"store\.h5: a store from another vocabulary"):
        piece_counts(made.store, other)


def test_sif_weights_follow_the_formula():
    weights = sif_weights(np.array([0, 1, 999]), a=1e-3)
    assert weights.dtype == np.float32
    np.testing.assert_allclose(weights, [1.0, 0.5, 1e-3 / (1e-3 + 0.999)], rtol=1e-6)


def test_a_random_table_is_seeded_and_standard_normal():
    one = random_table(500, 64, 3)
    np.testing.assert_array_equal(one, random_table(500, 64, 3))
    assert (one != random_table(500, 64, 4)).mean() > 0.99
    assert abs(one.mean()) < 0.03
    assert abs(one.std() - 1) < 0.03


def test_an_untrained_table_reads_text_as_the_model_does(made):
    model = load_model(made.model)
    scorer = untrained(model, random_table(model.vocab_size, 16, 0))
    text = made.lines[0]
    np.testing.assert_allclose(scorer.pairwise([text.upper()], [text]), [1.0])  # the model lower-cases


def test_evaluate_model_writes_what_it_gives(made, tmp_path):
    out = tmp_path / "results" / "eval.json"
    result = evaluate_model(made.model, out, name="fr", info={"recipe": "psp", "differences": {}}, **made.tests)
    assert read_json(out) == json.loads(json.dumps(result))
    assert list(result)[:4] == ["format", "model", "recipe", "differences"]
    assert result["format"] == 1
    assert result["files"]["graded"]["pairs"] == 200
    # The same sentences on both sides, but for their case: a model that lower-cases finds all of them.
    assert result["tatoeba"]["fra"]["fra-eng"]["errors"] - result["tatoeba"]["fra"]["fra-eng"]["duplicates"] == 0
    again = tmp_path / "again.json"
    evaluate_model(made.model, again, name="fr", info={"recipe": "psp", "differences": {}}, **made.tests)
    assert out.read_bytes() == again.read_bytes()


def test_nothing_is_written_when_a_test_set_is_bad(made, tmp_path):
    (tmp_path / "bad.tsv").write_text("x\ta\tb\n")
    with pytest.raises(DataError, match="score 'x'"):
        evaluate_model(
            made.model, tmp_path / "eval.json", name="fr", languages=["en"], files={"bad": tmp_path / "bad.tsv"}
        )
    assert not (tmp_path / "eval.json").exists()
    with pytest.raises(DataError, match="no such folder"):
        evaluate_model(tmp_path / "absent", tmp_path / "eval.json", name="fr", languages=["en"])


def test_compare_puts_all_systems_in_one_layout(made, tmp_path):
    out = tmp_path / "compare.json"
    result = compare(made.model, made.store, out, name="fr", seed=1, **made.tests)
    assert read_json(out) == json.loads(json.dumps(result))
    assert list(result["systems"]) == ["trained", "untrained", "untrained+sif", "word overlap"]
    trained = evaluate_model(made.model, tmp_path / "eval.json", name="fr", seed=1, **made.tests)
    assert result["systems"]["trained"] == {key: trained[key] for key in trained if key not in ("format", "model")}
    scores = {name: body["files"]["graded"]["pearson"] for name, body in result["systems"].items()}
    # The gold score is the number of shared words: each of these systems must follow it, each in its own way.
    assert all(score > 60 for score in scores.values())
    assert len(set(scores.values())) == 4
    text = table(trained, result)
    assert text.split("\n")[0].split("  ")[0] == "test"
    assert f"{scores['word overlap']:.1f} [" in text
    assert text.count("trained") == 2  # untrained and untrained+sif: the trained model has its own name
