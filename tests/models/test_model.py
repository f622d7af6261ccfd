"""The model, against a plain mean over each sentence's rows."""

from __future__ import annotations

import importlib.util
import io
import itertools
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pandas
import pytest
import sentencepiece
from hypothesis import example, given
from hypothesis import strategies as st

import psp
from psp.core.errors import DataError, PspError
from psp.models import static
from psp.models.folder import load_model
from psp.models.static import WORTH_IMPORT, Accelerator, StaticModel
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.conftest import SENTENCES, odd_text, reference_ids, train_sentencepiece
from tests.models.conftest import CONFIG, DIM


@pytest.fixture(scope="module")
def model(table, sentencepiece_model):
    return StaticModel(table, sentencepiece_model, CONFIG)


def reference(model, texts):
    vectors = np.zeros((len(texts), model.dim))
    for row, text in enumerate(texts):
        ids = reference_ids(model.sentencepiece, text)
        if {*ids} - {model.unknown_id, model.sentencepiece.piece_to_id("▁")}:
            vectors[row] = model.weight[ids].astype(np.float64).mean(axis=0)
    return vectors


@given(texts=st.lists(odd_text, max_size=20), batch_size=st.integers(1, 8))
@example(texts=["", " ", "\t\n ", "\u3000", "\u200b", "\x01", "bread 日 here"], batch_size=2)
@example(texts=[], batch_size=1)
def test_vectors_are_the_means_of_the_pieces_rows(model, texts, batch_size):
    vectors = model.embed_raw_text(texts, batch_size=batch_size)
    assert (vectors.shape, vectors.dtype) == ((len(texts), DIM), np.float32)
    np.testing.assert_allclose(vectors, reference(model, texts), rtol=0, atol=1e-6)


@pytest.fixture(scope="module", params=["float32", "float16", "int8", "int4"])
def two_ways(request, table, sentencepiece_model):
    """A model in plain NumPy and sentencepiece, and the same in compiled code."""
    plain = StaticModel(table, sentencepiece_model, CONFIG | {"lower_case": True, "left_out": [5, 9]}, accelerate=False)
    fast = StaticModel(table, sentencepiece_model, plain.config, accelerate=True)
    return plain.quantized(request.param), fast.quantized(request.param)


@given(texts=st.lists(odd_text, max_size=20))
def test_compiled_code_gives_the_same_bytes(two_ways, texts):
    plain, fast = two_ways
    assert fast.embed_raw_text(texts).tobytes() == plain.embed_raw_text(texts).tobytes()
    pairs = list(itertools.pairwise(texts))
    assert fast.score_raw_text(pairs) == plain.score_raw_text(pairs)


@pytest.mark.parametrize("accelerate", [True, False])
def test_threads_change_no_byte(table, sentencepiece_model, accelerate):
    one = StaticModel(table, sentencepiece_model, CONFIG, accelerate=accelerate)
    several = StaticModel(table, sentencepiece_model, CONFIG, threads=3, accelerate=accelerate)
    texts = SENTENCES * 9
    assert several.embed_raw_text(texts).tobytes() == one.embed_raw_text(texts).tobytes()


def test_compiled_code_comes_in_when_it_pays_and_changes_no_byte(table, sentencepiece_model, monkeypatch):
    monkeypatch.setattr(static, "WORTH_LOADING", 1000)
    monkeypatch.setattr(static, "WORTH_IMPORT", 1000)
    model, never = (StaticModel(table, sentencepiece_model, CONFIG, accelerate=wanted) for wanted in (None, False))
    first = model.embed_raw_text(SENTENCES[:400])
    assert model._accelerator.pooling is None
    again = model.embed_raw_text(SENTENCES[:400] * 2)[:400]
    assert model._accelerator.pooling is not None and model._accelerator.words is not None
    assert again.tobytes() == first.tobytes() == never.embed_raw_text(SENTENCES[:400] * 4)[:400].tobytes()
    assert never._accelerator.pooling is None


@pytest.mark.parametrize(("imported", "worth"), [(True, static.WORTH_LOADING), (False, static.WORTH_IMPORT)])
def test_importing_it_pays_later_than_using_it(monkeypatch, imported, worth):
    monkeypatch.setitem(sys.modules, "numba", sys)
    if not imported:
        monkeypatch.delitem(sys.modules, "numba")
    accelerator = static.Accelerator(None, object)
    accelerator.expect(worth - 1)
    assert accelerator.pooling is None
    accelerator.expect(1)
    assert accelerator.pooling is not None


def test_without_numba_it_is_refused_where_wanted_and_else_left_out(table, sentencepiece_model, monkeypatch):
    find = importlib.util.find_spec
    monkeypatch.setattr(
        static.importlib.util, "find_spec", lambda name, *more: None if name == "numba" else find(name, *more)
    )
    with pytest.raises(PspError, match=r"accelerate=True needs numba: pip install 'paraphrastic\[fast\]'"):
        StaticModel(table, sentencepiece_model, CONFIG, accelerate=True)
    accelerator = static.Accelerator(None, object)
    accelerator.expect(10**9)
    assert accelerator.pooling is None


def test_threads_that_ask_at_once_make_one_cache():
    made, together = [], threading.Barrier(8)
    accelerator = Accelerator(None, lambda: made.append(1))

    def ask() -> None:
        together.wait()
        accelerator.expect(WORTH_IMPORT)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_a_model_of_another_kind_of_pieces_is_accelerated_as_far_as_it_can_be(tmp_path, caplog):
    path = train_sentencepiece(tmp_path / "bpe.model", model_type="bpe")
    pieces = load_sentencepiece(path).get_piece_size()
    rows = np.random.default_rng(3).standard_normal((pieces, DIM), dtype=np.float32)
    caplog.set_level("INFO")
    fast = StaticModel(rows, path, accelerate=True)
    assert "sentences are encoded without compiled code: " in caplog.text
    assert fast._accelerator.words is None and fast._accelerator.pooling is not None
    plain = StaticModel(rows, path, accelerate=False)
    assert fast.embed_raw_text(SENTENCES).tobytes() == plain.embed_raw_text(SENTENCES).tobytes()


def test_a_model_goes_to_another_process(two_ways):
    for model in two_ways:
        again = pickle.loads(pickle.dumps(model))
        assert again.embed_raw_text(SENTENCES[:5]).tobytes() == model.embed_raw_text(SENTENCES[:5]).tobytes()


@given(texts=st.lists(odd_text, max_size=12), dim=st.integers(1, DIM), normalize=st.booleans(), size=st.integers(1, 5))
def test_encode_is_embedding_cut_and_normalised(model, texts, dim, normalize, size):
    found = model.encode(texts, batch_size=size, normalize_embeddings=normalize, truncate_dim=dim)
    expected = model.embed_raw_text(texts)[:, :dim]
    assert (found.shape, found.dtype) == ((len(texts), dim), np.float32)
    if normalize:
        lengths = np.linalg.norm(expected.astype(np.float64), axis=1, keepdims=True)
        expected = np.divide(expected, lengths, out=np.zeros(expected.shape), where=lengths > 0)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6)
    for text, vector in zip(texts, found, strict=True):
        alone = model.encode(text, normalize_embeddings=normalize, truncate_dim=dim)
        assert alone.shape == (dim,) and np.array_equal(alone, vector)


def test_encode_shows_a_bar_and_refuses_dimensions_that_there_are_not(model, capsys, caplog):
    caplog.set_level("INFO")
    assert model.encode(SENTENCES, show_progress_bar=True).shape == (len(SENTENCES), DIM)
    assert f"embedding: {len(SENTENCES)}" in caplog.text.replace(",", "")
    for dim in (0, DIM + 1):
        with pytest.raises(ValueError, match="truncate_dim"):
            model.encode("bread", truncate_dim=dim)


def test_vectors_of_other_lengths_have_no_cosine(model):
    with pytest.raises(ValueError, match="vectors of 12 and of 4 dimensions have no cosine"):
        model.similarity(np.ones((2, 12)), np.ones((3, 4)))


def test_what_gives_texts_one_by_one_will_do(model):
    texts = ["the cat", "bread"]
    for some in (
        iter(texts),
        (text for text in texts),
        tuple(texts),
        pandas.Series(texts, index=[7, 3]),
        np.array(texts),
    ):
        np.testing.assert_array_equal(model.encode(some), model.encode(texts))


@given(texts=st.lists(odd_text, min_size=1, max_size=8), scale=st.sampled_from([1e-30, 1.0, 1e30]))
def test_similarities_are_cosines(model, texts, scale):
    vectors = model.encode(texts)
    found = model.similarity(vectors * np.float32(scale), vectors)
    assert (found.shape, found.dtype) == ((len(texts), len(texts)), np.float32)
    expected = [[model.score_raw_text([(a, b)])[0] for b in texts] for a in texts]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-5)
    np.testing.assert_allclose(model.similarity_pairwise(vectors, vectors), np.diag(expected), rtol=0, atol=1e-6)
    assert model.similarity(vectors[0], vectors).shape == (1, len(texts))
    with pytest.raises(ValueError, match="not pairs"):
        model.similarity_pairwise(vectors, np.zeros((len(texts) + 1, DIM)))
    with pytest.raises(ValueError, match="not \\(dim,\\)"):
        model.similarity(np.zeros((1, 1, DIM)), vectors)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int4"])
@pytest.mark.parametrize("dim", [None, 5])
def test_smaller_tables_are_loaded_and_saved(folder, tmp_path, dtype, dim):
    model = load_model(folder, dtype=dtype, dim=dim)
    assert (model.dtype, model.dim) == (dtype, dim or DIM)
    whole = load_model(folder)
    assert whole.dtype == "float32" and whole.nbytes == 4 * whole.vocab_size * DIM
    np.testing.assert_allclose(model.weight, whole.weight[:, :dim], rtol=0, atol=1 if dtype == "int4" else 0.05)
    config = model.save(tmp_path / "smaller")
    assert config["dim"] == model.dim and config.get("dtype", "float32") == dtype
    again = load_model(tmp_path / "smaller")
    assert again.dtype == dtype and again.nbytes == model.nbytes
    assert again.embed_raw_text(SENTENCES).tobytes() == model.embed_raw_text(SENTENCES).tobytes()
    assert f"{model.dim} dimensions" in (card := (tmp_path / "smaller" / "README.md").read_text())
    assert f"numbers in {dtype}" in card


def test_steps_apart_give_the_same_as_together(model):
    ids, offsets = model.ids(SENTENCES)
    assert (ids.dtype, offsets.dtype) == (np.int32, np.int64)
    assert [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)] == model.sentencepiece.encode(SENTENCES)
    assert np.array_equal(model.pool(ids, offsets), model.embed_raw_text(SENTENCES))
    assert np.array_equal(model.pool(ids.astype(np.uint16), offsets), model.embed_raw_text(SENTENCES))


@pytest.mark.parametrize("size", [0, -1])
def test_batches_of_nothing_are_refused(model, size):
    for call in (
        model.embed_raw_text,
        lambda texts, size: model.encode(texts, batch_size=size),
        lambda texts, size: model.score_raw_text([texts], size),
    ):
        with pytest.raises(ValueError, match=f"batch_size is {size}; it must be 1 or more"):
            call(["bread", "pain"], size)


@pytest.mark.parametrize("prefix", [True, False])
def test_a_text_of_unknown_pieces_alone_is_zeros_unless_the_config_says_that_it_is_the_unknown_piece(tmp_path, prefix):
    path = train_sentencepiece(tmp_path / "bare.model", add_dummy_prefix=prefix)
    pieces = load_sentencepiece(path).get_piece_size()
    weight = np.arange(pieces * DIM, dtype=np.float32).reshape(pieces, DIM)
    texts = ["日", "日本🙂", "собака спит", "今天天气很好", "日 bread", "bread"]
    plain = StaticModel(weight, path)
    assert plain.embed_raw_text(texts).any(axis=1).tolist() == [False] * 4 + [True] * 2
    assert plain.score_raw_text([("собака спит", "今天天气很好"), ("日", "日"), ("日", "bread")]) == [0, 0, 0]
    assert plain.unknown_shares([*texts, ""]).tolist()[:4] == [1] * 4
    assert 0 < plain.unknown_shares(texts)[4] < 1 and plain.unknown_shares(["bread", ""]).tolist() == [0, 0]
    published = StaticModel(weight, path, {"unknown_alone": True})
    ids, offsets = published.ids(texts)
    mark = [] if not prefix else [published.sentencepiece.piece_to_id("▁")]
    assert ids[: offsets[1]].tolist() == (mark or [published.unknown_id])
    assert published.embed_raw_text(texts).any(axis=1).all()


@given(texts=st.lists(odd_text | st.text(st.sampled_from("ab日🙂 ▁"), max_size=6), max_size=12), data=st.data())
def test_pieces_that_are_left_out_count_as_unknown(table, sentencepiece_model, model, texts, data):
    others = [number for number in range(len(table)) if number != model.unknown_id]
    excluded_ids = data.draw(st.sets(st.sampled_from(others)))
    without = StaticModel(table, sentencepiece_model, CONFIG | {"left_out": sorted(excluded_ids)})
    ids, offsets = without.ids(texts)
    for text, start, stop in zip(texts, offsets[:-1], offsets[1:], strict=True):
        pieces = model.sentencepiece.encode(text)
        known = [number for number in pieces if number not in excluded_ids | {model.unknown_id}]
        assert ids[start:stop].tolist() == (known if {*known} - {model.sentencepiece.piece_to_id("▁")} else [])
    assert np.array_equal(without.embed_raw_text(texts), model.pool(ids, offsets))


@pytest.mark.parametrize("excluded_ids", [[0], [3, 10**6], [-1], [True], ["3"], "3", {"3": 3}])
def test_ids_that_cannot_be_left_out_are_refused(table, sentencepiece_model, excluded_ids):
    with pytest.raises(DataError, match=r"config\.json: left_out"):
        StaticModel(table, sentencepiece_model, CONFIG | {"left_out": excluded_ids})


def test_text_is_lower_cased_where_the_model_is(table, sentencepiece_model, model):
    lower = StaticModel(table, sentencepiece_model, CONFIG | {"lower_case": True})
    assert np.array_equal(lower.embed_raw_text(["The CAT Eats BREAD"]), model.embed_raw_text(["the cat eats bread"]))
    assert not np.array_equal(model.embed_raw_text(["The CAT"]), model.embed_raw_text(["the cat"]))


@pytest.mark.slow
@pytest.mark.parametrize("cut_all", [False, True])
def test_han_text_is_segmented_where_the_model_says_so_and_no_other(tmp_path, cut_all):
    jieba = pytest.importorskip("jieba", reason="jieba is not installed (the extra zh)")
    jieba.setLogLevel(60)
    from psp.text.segment import Segmenter

    chinese = ["我来到北京清华大学", "他来到了网易杭研大厦"]
    segment = Segmenter("jieba", cut_all=cut_all).segment
    trained = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter([*map(segment, chinese), *chinese, "a cat, eats t恤"] * 3),
        model_writer=trained,
        vocab_size=100,
        hard_vocab_limit=False,
        character_coverage=1.0,
        minloglevel=2,
    )
    path = tmp_path / "sp.model"
    path.write_bytes(trained.getvalue())
    pieces = load_sentencepiece(path).get_piece_size()
    table = np.random.default_rng(0).standard_normal((pieces, DIM), dtype=np.float32)
    plain = StaticModel(table, path)
    segmenting = StaticModel(table, path, {"segment": {"zh": {"name": "jieba", "cut_all": cut_all}}})
    for text in chinese:
        assert segmenting.ids([text])[0].tolist() == plain.ids([segment(text)])[0].tolist()
        assert segmenting.ids([text])[0].tolist() != plain.ids([text])[0].tolist()
    latin, cut = "a cat, eats", "a cat , eats"  # the second is what jieba makes of the first
    assert segmenting.ids([latin])[0].tolist() == plain.ids([latin])[0].tolist() != plain.ids([cut])[0].tolist()
    lower = StaticModel(table, path, {"lower_case": True, "segment": {"zh": {"name": "jieba", "cut_all": cut_all}}})
    mixed = "我来到T恤大厦"  # jieba knows the word with a capital letter only
    assert segment(mixed).lower() != segment(mixed.lower())
    assert lower.ids([mixed])[0].tolist() == plain.ids([segment(mixed).lower()])[0].tolist()


def test_a_segmenter_that_cannot_be_had_is_an_error_at_once(table, sentencepiece_model):
    with pytest.raises(PspError, match="no segmenter 'mecab'"):
        StaticModel(table, sentencepiece_model, {"segment": {"ja": {"name": "mecab"}}})
    with pytest.raises(DataError, match="segment holds"):
        StaticModel(table, sentencepiece_model, {"segment": {"zh": "jieba"}})
    two = {"zh": {"name": "jieba", "cut_all": True}, "yue": {"name": "jieba", "cut_all": False}}
    with pytest.raises(DataError, match="two segmenters"):
        StaticModel(table, sentencepiece_model, {"segment": two})


@given(pairs=st.lists(st.tuples(odd_text, odd_text), max_size=12), batch_size=st.integers(1, 5))
def test_scores_are_cosines_and_never_nan(model, pairs, batch_size):
    scores = model.score_raw_text(pairs, batch_size=batch_size)
    assert len(scores) == len(pairs)
    for (left, right), score in zip(pairs, scores, strict=True):
        a, b = reference(model, [left, right])
        norms = np.linalg.norm(a) * np.linalg.norm(b)
        assert score == pytest.approx(a @ b / norms if norms else 0.0, abs=1e-6)
        assert -1.0 <= score <= 1.0 and type(score) is float


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_scores_of_tiny_and_huge_vectors(table, sentencepiece_model, model, scale):
    scaled = StaticModel(table * np.float32(scale), sentencepiece_model)
    pairs = [("the cat eats", "le chat mange"), ("bread", "bread")]
    assert scaled.score_raw_text(pairs) == pytest.approx(model.score_raw_text(pairs), abs=1e-5)


@pytest.mark.parametrize(
    ("texts", "error", "message"),
    [
        ("bread", TypeError, r"write \[text\]"),
        (b"bread", TypeError, r"write \[text\]"),
        (["bread", None], TypeError, r"texts\[1\] is NoneType"),
        (["bread", "bread", b"bread"], TypeError, r"texts\[2\] is bytes"),
        ([["bread"]], TypeError, r"texts\[0\] is list"),
        (
            pandas.DataFrame({"id": [1], "text": ["bread"]}),
            TypeError,
            r"not a DataFrame: write df\['id'\].tolist\(\) .*\(id, text\)",
        ),
        ({"a": "bread"}, TypeError, r"not a dict: write list\(texts.values\(\)\)"),
        ({"bread", "the"}, TypeError, "not a set, which has no order"),
        (["bread"] * 5 + ["b\ud800d"], DataError, r"texts\[5\] is not valid Unicode.*character 1"),
    ],
)
def test_what_is_no_text_is_named_by_its_index(model, texts, error, message):
    with pytest.raises(error, match=message):
        model.embed_raw_text(texts, batch_size=2)
    with pytest.raises(error):
        model.ids(texts)


@pytest.mark.parametrize("pair", ["ab", ("bread",), ("a", "b", "c"), None, ("bread", None)])
def test_what_is_no_pair_is_named(model, pair):
    with pytest.raises(TypeError, match=r"pair 1 is|texts\[3\] is"):
        model.score_raw_text([("bread", "pain"), pair])


@pytest.mark.parametrize(
    ("ids", "offsets"),
    [([0, 10**4], [0, 2]), ([0, -1], [0, 2]), ([1, 2], [0, 3]), ([1, 2], [0, 1]), ([1, 2], [0, 2, 1, 2]), ([1], [])],
)
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint16])
def test_ids_outside_the_table_and_offsets_that_do_not_fit_are_refused(two_ways, ids, offsets, dtype):
    for model in two_ways:
        with pytest.raises(ValueError, match="ids"):
            model.pool(np.array(ids, np.int64).astype(dtype), np.array(offsets, np.int64))
        good = model.pool(np.array([3, 3], dtype), np.array([0, 2]))
        assert np.array_equal(good, model.pool(np.array([3], dtype), np.array([0, 1])))


def test_a_model_of_another_vocabulary_is_refused(folder, table, tmp_path):
    other = train_sentencepiece(tmp_path / "other.model", vocab_size=60)
    with pytest.raises(DataError, match="needs a row"):
        StaticModel(table, other)


HEAVY = [
    "torch",
    "h5py",
    "scipy",
    "pandas",
    "snakemake",
    "fasttext",
    "jieba",
    "requests",
    "psp.pairs.store",
]


def test_embedding_needs_nothing_but_numpy_sentencepiece_and_safetensors(folder):
    program = f"""
import sys
import threading
from pathlib import Path
import psp
assert "numpy" not in sys.modules, "import psp alone imports numpy"
model = psp.load_model({str(folder)!r})
assert isinstance(model, psp.Model)
assert model.score_raw_text([("the cat", "le chat")])
print(*sorted(sys.modules.keys() & set({HEAVY!r})))
"""
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, "\n", "")


def test_what_the_package_does_not_have():
    with pytest.raises(AttributeError, match="nothing"):
        psp.nothing  # noqa: B018


def files_of_psp(call) -> set[str]:
    """The files of psp whose functions a call passes through."""
    found = set()

    def passed(frame, event, argument):
        if event == "call" and frame.f_code.co_filename.startswith(str(Path(psp.__file__).parent)):
            found.add(frame.f_code.co_filename)

    sys.setprofile(passed)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found


def test_whoever_reads_how_a_sentence_is_embedded_reads_four_files(folder) -> None:
    assert len(files_of_psp(lambda: load_model(folder))) <= 12
    model = load_model(folder, accelerate=False)
    assert len(files_of_psp(lambda: model.encode(["the old house"]))) <= 4
