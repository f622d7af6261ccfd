"""Combinations of models, against the plain concatenation of their parts' vectors."""

from __future__ import annotations

import json
import pickle
import re

import numpy as np
import pytest
import safetensors.numpy
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError, PspError
from psp.evaluation.system import scorer_of
from psp.inference.search.vectors import embed
from psp.inference.serve.pieces import explain
from psp.models import card_file, file_names, model_files
from psp.models.combined import CombinedModel, parts_of
from psp.models.folder import load, load_model
from psp.models.lstm import Direction, Lstm
from psp.models.static import StaticModel
from psp.models.text_model import TextModel
from psp.text.trigram_tokenizer import TrigramTokenizer, trigrams
from psp.text.word_tokenizer import WordTokenizer
from tests.conftest import SENTENCES, odd_text
from tests.models.conftest import CONFIG

WEIGHTS = (1.0, 0.5, 2.5)
FILES = ["0.sentencepiece.model", "1.vocabulary.txt", "2.vocabulary.txt"]


def random_model(tokenizer, dim, seed, config):
    table = np.random.default_rng(seed).standard_normal((len(tokenizer), dim), dtype=np.float32)
    return StaticModel(table, tokenizer, config)


@pytest.fixture(scope="module")
def singles(table, sentencepiece_model, tmp_path_factory):
    """The folders of models of subwords, words and trigrams."""
    words = sorted({word for sentence in SENTENCES for word in sentence.lower().split()})
    runs = sorted({run for sentence in SENTENCES for run in trigrams(sentence)})
    word, trigram = WordTokenizer([(one, 2) for one in words]), TrigramTokenizer([(one, 2) for one in runs])
    models = (
        StaticModel(table, sentencepiece_model, CONFIG),
        random_model(word, 8, 2, {"languages": ["en", "de"], "lower_case": True, "recipe": "psp", "left_out": [3]}),
        random_model(trigram, 5, 3, {"languages": ["en"], "recipe": "psp"}),
    )
    folders = [tmp_path_factory.mktemp("singles") / model.tokenizer.kind for model in models]
    for model, folder in zip(models, folders, strict=True):
        model.save(folder)
    return folders


@pytest.fixture(scope="module")
def parts(singles):
    return [load_model(folder) for folder in singles]


@pytest.fixture(scope="module")
def model(parts):
    return CombinedModel(parts, WEIGHTS)


@pytest.fixture
def folder(model, tmp_path):
    model.save(tmp_path / "model")
    return tmp_path / "model"


def reference(parts, weights, texts):
    """The concatenation, in float64."""
    joined = []
    for part, weight in zip(parts, weights, strict=True):
        vectors = part.embed_raw_text(texts).astype(np.float64)
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        joined.append(vectors / np.where(lengths == 0, 1, lengths) * weight**0.5)
    return np.hstack(joined)


@given(texts=st.lists(odd_text, max_size=12), batch_size=st.integers(1, 8))
def test_vectors_are_the_parts_vectors_joined(model, parts, texts, batch_size):
    vectors = model.embed_raw_text(texts, batch_size)
    assert (vectors.shape, vectors.dtype) == ((len(texts), 12 + 8 + 5), np.float32)
    np.testing.assert_allclose(vectors, reference(parts, WEIGHTS, texts), rtol=0, atol=1e-6)


weight = st.floats(1e-3, 1e3)


@given(
    weights=st.lists(weight, min_size=3, max_size=3),
    pairs=st.lists(st.tuples(*[st.sampled_from(SENTENCES)] * 2), min_size=1, max_size=5),
    factor=weight,
)
def test_a_cosine_is_the_mean_of_the_parts_cosines_by_weight(parts, weights, pairs, factor):
    expected = np.average([part.score_raw_text(pairs) for part in parts], axis=0, weights=weights)
    for scale in (1, factor):  # only the proportions count
        combination = CombinedModel(parts, [one * scale for one in weights])
        np.testing.assert_allclose(combination.score_raw_text(pairs), expected, rtol=0, atol=2e-6)


def test_a_combination_among_the_parts_stands_for_its_own_and_weights_are_1_unless_given(parts):
    inner = CombinedModel(parts[:2], [3, 1])
    flat = CombinedModel([inner, parts[2]], [2, 1])
    assert flat.parts == tuple(parts) and flat.weights == (1.5, 0.5, 1.0)
    assert CombinedModel(parts).weights == (1.0, 1.0, 1.0)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 2], "2 weights for 3 models"),
        *[
            ([1, 1, bad], "is not a number from 1e-15 to 1e+15")
            for bad in (0, -1, np.nan, np.inf, "1", None, True, 1e308, 1e-300)
        ],
    ],
)
def test_weights_that_are_none(parts, weights, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        CombinedModel(parts, weights)


def test_what_cannot_be_a_part(parts):
    with pytest.raises(ValueError, match="a combination of 1 models; it needs two or more"):
        CombinedModel(parts[:1])
    with pytest.raises(TypeError, match="a part is str, not a psp model"):
        CombinedModel([parts[0], "results/fr/model"])

    class Other(StaticModel):
        def _pool(self, encoded, out):
            out[:] = 1

    with pytest.raises(DataError, match="Other: models of this class cannot be combined"):
        CombinedModel([parts[0], Other(parts[0].table, parts[0].tokenizer)])


def test_what_it_takes_over_from_its_parts(model, parts, sentencepiece_model):
    assert model.config == {"languages": ["en", "fr", "de"], "recipe": "psp"}
    prompted = StaticModel(parts[0].weight, sentencepiece_model, {"prompts": {"query": "q: "}, "licence": "MIT"})
    same = CombinedModel([prompted, prompted])
    assert same.config == {"languages": [], "recipe": None, "prompts": {"query": "q: "}, "licence": "MIT"}
    assert np.array_equal(same.encode_query("bread"), same.encode("q: bread"))
    assert "prompts" not in CombinedModel([prompted, parts[1]]).config
    assert CombinedModel([prompted, parts[1]], config={"prompts": {"a": "b"}}).prompts["a"] == "b"
    with pytest.raises(DataError, match="prompts is"):
        CombinedModel(parts, config={"prompts": 5})


# -------------------------------------------------------------------------------------------------------- the interface


def test_encode_takes_what_other_models_take(model):
    texts = [*SENTENCES[:120], ""]
    vectors = model.embed_raw_text(texts)
    assert np.array_equal(model.encode(texts), vectors) and np.array_equal(model.encode(texts[0]), vectors[0])
    lengths = np.linalg.norm(model.encode(texts, normalize_embeddings=True), axis=1)
    np.testing.assert_allclose(lengths, [1] * 120 + [0], atol=1e-6)
    assert np.array_equal(model.encode(texts, truncate_dim=5, batch_size=7), vectors[:, :5])
    assert model.encode(texts, precision="int8").dtype == np.int8
    assert model.encode(texts, precision="ubinary").shape == (121, 4)
    assert np.array_equal(model.encode(texts[:2], prompt="the "), model.embed_raw_text(["the " + t for t in texts[:2]]))
    assert model.get_embedding_dimension() == model.dim == 25
    assert model.model_card_data.language == ["en", "fr", "de"]
    for output in ("token_embeddings", None):
        with pytest.raises(ValueError, match="each part of a combination splits a text in its own way"):
            model.encode(texts, output_value=output)
    with pytest.raises(TypeError, match=r"texts\[1\] is int"):
        model.embed_raw_text(["a", 5])
    with pytest.raises(DataError, match=r"texts\[3\] is not valid Unicode"):
        model.embed_raw_text(["a", "b", "c", "\ud800"], batch_size=2)


def test_what_only_parts_have(model):
    lacking = ("weight", "table", "tokenizer", "ids", "pool", "prepared", "sentencepiece", "vocab_size", "tokenize")
    for name in lacking:
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=rf"a combination of models has no {name}: .* model.parts\[0\].{name}"):
            getattr(model, name)
    with pytest.raises(AttributeError, match="a psp model has no cuda: it runs on the CPU"):
        model.cuda()
    with pytest.raises(AttributeError, match="a psp model has no colour"):
        _ = model.colour
    assert parts_of(model) == model.parts and parts_of(model.parts[0]) == (model.parts[0],)


def test_what_it_says_it_is(model):
    subwords, words, trigrams = (f"{len(part.table):,}" for part in model.parts)
    assert repr(model) == (
        f"<psp.Model: en, fr, de; 1 x {subwords} subwords + 0.5 x {words} words + 2.5 x {trigrams} trigrams, "
        "25 dimensions, float32>"
    )
    assert isinstance(model, TextModel) and model.nbytes == sum(part.nbytes for part in model.parts)


def test_it_goes_to_another_process(model):
    again = pickle.loads(pickle.dumps(model))
    assert type(again) is CombinedModel and again.weights == model.weights
    assert again.embed_raw_text(SENTENCES).tobytes() == model.embed_raw_text(SENTENCES).tobytes()


def test_compiled_code_and_threads_give_the_same_bytes(folder):
    plain = load_model(folder, accelerate=False).embed_raw_text(SENTENCES)
    fast = load_model(folder, accelerate=True, threads=2)
    assert fast.threads == 2 and all(part.threads == 2 and part._accelerator.pooling for part in fast.parts)
    assert fast.embed_raw_text(SENTENCES).tobytes() == plain.tobytes()
    fast.threads = 1
    assert [part.threads for part in fast.parts] == [1, 1, 1]


@pytest.mark.parametrize("dtype", ["float16", "int8", "int4"])
def test_smaller_parts(model, parts, folder, tmp_path, dtype):
    small = model.quantized(dtype)
    assert small.dtype == dtype and [part.dtype for part in small.parts] == [dtype] * 3 and model.dtype == "float32"
    expected = CombinedModel([part.quantized(dtype) for part in parts], WEIGHTS).embed_raw_text(SENTENCES)
    assert np.array_equal(small.embed_raw_text(SENTENCES), expected)
    small.save(tmp_path / "small")
    for loaded in (load_model(tmp_path / "small"), load_model(folder, dtype=dtype)):
        assert loaded.dtype == dtype and np.array_equal(loaded.embed_raw_text(SENTENCES), expected)
    assert CombinedModel([parts[0], parts[1].quantized(dtype)]).dtype == f"float32+{dtype}"


def test_fewer_dimensions_are_refused(model, folder):
    assert model.quantized("float32", 25) is model and load_model(folder, dim=25).dim == 25
    for use in (lambda: model.quantized(dim=12), lambda: load_model(folder, dim=24)):
        with pytest.raises(
            ValueError, match="the first dimensions of a combination are those of its first parts alone"
        ):
            use()
    with pytest.raises(ValueError, match="dtype is 'float8'"):
        load_model(folder, dtype="float8")


# ----------------------------------------------------------------------------------------------------------- the folder


def test_what_is_saved_is_what_is_loaded(model, folder):
    for loaded in (load_model(folder), TextModel.from_pretrained(folder), TextModel.load(folder)):
        assert loaded.weights == WEIGHTS and [type(part) for part in loaded.parts] == [StaticModel] * 3
        assert loaded.embed_raw_text(SENTENCES).tobytes() == model.embed_raw_text(SENTENCES).tobytes()
    assert isinstance(load_model(folder), CombinedModel)


def test_the_folder(folder, singles):
    config = json.loads((folder / "config.json").read_text())
    assert (config["format"], config["dim"], config["languages"]) == (1, 25, ["en", "fr", "de"])
    assert not config.keys() & {"vocab_size", "lower_case", "segment"}
    alone = [json.loads((single / "config.json").read_text()) for single in singles]
    assert config["encoder"] == {
        "kind": "concat",
        "parts": [
            {"weight": weight, **{key: value for key, value in own.items() if key != "weights_sha256"}}
            for weight, own in zip(WEIGHTS, alone, strict=True)
        ],
    }
    assert list(config["tokenizer"]["files"]) == FILES and config["tokenizer"]["kind"] == "parts"
    assert file_names(config) == ["config.json", "model.safetensors", *FILES]
    assert {path.name for path in folder.iterdir()} == {*file_names(config), "README.md"}
    assert model_files(folder) == [f"{folder}/{name}" for name in file_names(config)]
    tensors = safetensors.numpy.load_file(folder / "model.safetensors")
    assert sorted(tensors) == [f"parts.{number}.embedding.weight" for number in range(3)]


def test_the_same_models_are_saved_as_the_same_bytes(folder, singles, tmp_path):
    CombinedModel([load_model(single) for single in singles], WEIGHTS).save(tmp_path / "again")
    load_model(folder).save(tmp_path / "loaded")
    load(folder).save(tmp_path / "static")  # no card
    for path in folder.iterdir():
        assert (tmp_path / "again" / path.name).read_bytes() == path.read_bytes()
        assert (tmp_path / "loaded" / path.name).read_bytes() == path.read_bytes()
        assert path.name == card_file.NAME or (tmp_path / "static" / path.name).read_bytes() == path.read_bytes()


def test_parts_are_taken_out_again_as_they_were(folder, singles, tmp_path):
    for number, (part, single) in enumerate(zip(load_model(folder).parts, singles, strict=True)):
        part.save(tmp_path / str(number))
        for path in single.iterdir():
            assert (tmp_path / str(number) / path.name).read_bytes() == path.read_bytes()


def test_it_can_be_saved_over_itself(folder, model):
    load_model(folder, dtype="float16").save(folder)
    assert load_model(folder).dtype == "float16"


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", *FILES])
def test_a_missing_or_damaged_file_is_named(folder, name):
    content = (folder / name).read_bytes()
    (folder / name).write_bytes(content[: len(content) // 2])
    with pytest.raises(DataError, match=name):
        load_model(folder)
    (folder / name).unlink()
    with pytest.raises(DataError, match=name):
        load_model(folder)


def edited(key, value):
    """An edit of config.json: ``key`` is a path in it."""

    def edit(config):
        *path, last = key.split("/")
        for step in path:
            config = config[int(step) if isinstance(config, list) else step]
        config[int(last) if isinstance(config, list) else last] = value

    return edit


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (edited("dim", 24), r"config\.json: dim is 24, but the parts have 25"),
        (edited("languages", None), r"config\.json: languages is None"),
        (edited("encoder/parts", None), r"config\.json: encoder lists no parts"),
        (edited("encoder/parts", []), r"config\.json: encoder: a combination of 0 models"),
        (edited("encoder/parts/1/weight", 0), r"config\.json: encoder: the weight 0 is not"),
        (edited("encoder/scaled", "false"), r"config\.json: encoder: scaled is 'false', not true or false"),
        (edited("encoder/parts/1/vocab_size", None), r"config\.json: vocab_size is None"),
        (edited("encoder/parts/1/vocab_size", 10), r"model\.safetensors: float32 .*\(10, 8\) in config\.json"),
        (edited("encoder/parts/1/kind", "bert"), r"config\.json: not the config of a psp model"),
        (edited("encoder/parts/1/tokenizer/kind", "own"), r"config\.json: unknown kind of tokenizer, 'own'"),
        (edited("encoder/parts/1/encoder/kind", "gru"), r"config\.json: part 1 has an encoder that no part"),
        (edited("encoder/parts/1/encoder", {"kind": "concat"}), r"config\.json: part 1 has an encoder that no part"),
        (edited("encoder/parts/1/encoder", {"kind": "lstm"}), r"model\.safetensors: lstm\.forward\.bias"),
        (
            edited("encoder/parts/0/tokenizer/files/sentencepiece.model", "0"),
            r"tokenizer and encoder list different files",
        ),
        (edited("tokenizer/files/..", "0" * 64), r"'\.\.' is not a name of a tokenizer's file"),
        (edited("prompts", 5), r"config\.json: prompts is 5"),
    ],
)
def test_a_config_that_does_not_fit_is_refused(folder, edit, message):
    config = json.loads((folder / "config.json").read_text())
    edit(config)
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(DataError, match=message):
        load_model(folder)


@pytest.mark.parametrize(
    "name", ["embedding.weight", "parts.3.embedding.weight", "parts.x", "parts.1.gates", "parts.1"]
)
def test_a_foreign_tensor_is_refused(folder, name):
    path = folder / "model.safetensors"
    tensors = safetensors.numpy.load_file(path)
    safetensors.numpy.save_file({**tensors, name: np.ones((2, 2), np.float32)}, path)
    with pytest.raises(DataError, match=r"model\.safetensors: holds"):
        load_model(folder)
    del tensors["parts.1.embedding.weight"]
    safetensors.numpy.save_file(tensors, path)
    with pytest.raises(DataError, match=r"model\.safetensors: no embedding matrix"):
        load_model(folder)


def test_numbers_that_are_none_are_not_saved(parts, sentencepiece_model, tmp_path):
    table = parts[0].weight.copy()
    table[3] = np.nan
    with pytest.raises(DataError, match="part 1 has values that are not numbers below 1e15"):
        CombinedModel([parts[0], StaticModel(table, sentencepiece_model)]).save(tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_what_reads_single_models_says_what_this_is(folder, singles):
    with pytest.raises(DataError, match="a combination of models, where one alone is needed"):
        StaticModel.load(folder)
    with pytest.raises(DataError, match="a combination of models"):
        scorer_of("untrained", model_dir=folder)
    with pytest.raises(DataError, match="not a combination of models"):
        CombinedModel.load(singles[0])


# ------------------------------------------------------------------------------------------------------------- its uses


def test_the_card_is_true(model, folder):
    text = (folder / card_file.NAME).read_text()
    assert card_file.is_generated(text)
    for said in (
        "- sentencepiece\n- word\n- trigram\n",
        "# Sentence embeddings for English, French and German\n",
        "joins the vectors of 3 models that were trained apart, 25 dimensions in all",
        "\n| 0 | 1 | mean of the vectors of its sentencepiece pieces | 73 | 12 | float32 | en, fr |\n",
        f"\n| 1 | 0.5 | mean of the vectors of its words | {len(model.parts[1].table):,} | 8 | float32 | en, de |\n",
        "- Part 0: Upper and lower case are kept. It is then split into pieces",
        "- Part 1: Text is lower-cased. It is then split into words",
        "Recipe: psp. Its parts were trained apart",
    ):
        assert said in text, said
    assert "folder above this one" not in text


def test_an_lstm_as_a_part(parts, tmp_path):
    rng = np.random.default_rng(4)
    shapes = Direction((16, 8), (16, 4), (16,))
    directions = [Direction(*(rng.standard_normal(shape, np.float32) for shape in shapes)) for _ in range(2)]
    words = parts[1]
    blstm = StaticModel(words.table, words.tokenizer, words.config, contextual=Lstm(directions, combine="concat"))
    both = CombinedModel([parts[0], blstm], [1, 3])
    texts = [*SENTENCES[:20], "", "zzz"]
    np.testing.assert_allclose(both.embed_raw_text(texts), reference(both.parts, [1, 3], texts), rtol=0, atol=1e-6)
    both.save(tmp_path / "both")
    loaded = load_model(tmp_path / "both")
    assert loaded.dim == 12 + 8 and "53 words (BLSTM), 20 dimensions" in repr(loaded)
    np.testing.assert_allclose(loaded.embed_raw_text(texts), both.embed_raw_text(texts), rtol=0, atol=1e-6)
    text = (tmp_path / "both" / card_file.NAME).read_text()
    assert (
        "- blstm\n" in text and "mean of the states of a bidirectional LSTM that reads the vectors of its words" in text
    )
    assert loaded.quantized("int8").embed_raw_text(texts).shape == (22, 20)
    assert loaded.identity() != CombinedModel(parts[:2], [1, 3]).identity()
    with pytest.raises(PspError, match="its vector is not a sum of its pieces"):
        explain(loaded, "the cat", "bread")


def test_a_text_is_understood_if_any_part_knows_a_piece(parts):
    pair = CombinedModel(parts[1:])
    vectors, kept = embed(pair, ["Bread", "cat", "zzz", "", "catz qqq"])  # the trigrams know the case of letters
    assert kept.tolist() == [0, 1, 4]
    assert np.allclose(vectors, pair.encode(["Bread", "cat", "catz qqq"], normalize_embeddings=True), atol=1e-6)


def test_its_identity_is_that_of_its_parts_and_weights(model, parts, folder):
    assert load_model(folder).identity() == model.identity()
    others = (
        CombinedModel(parts),
        CombinedModel(parts[::-1], WEIGHTS),
        CombinedModel(parts[:2]),
        model.quantized("int8"),
    )
    assert len({one.identity() for one in (model, *others)}) == 5


@given(left=odd_text, right=st.sampled_from(SENTENCES))
def test_the_pieces_shares_add_up_to_the_cosine(model, left, right):
    found = explain(model, left, right)
    assert found["score"] == model.score_raw_text([(left, right)])[0]
    for pieces in found["texts"]:
        assert sum(piece["share"] for piece in pieces) == pytest.approx(found["score"], abs=1e-5)


def test_it_is_served(model):
    pytest.importorskip("starlette", reason="needs pip install 'paraphrastic[serve]'")
    from starlette.testclient import TestClient

    from psp.inference.serve.app import application

    with TestClient(application(model, "both"), base_url="http://127.0.0.1:8000") as client:
        facts = client.get("/api/model").json()
        assert facts["vocab_size"] == sum(part.vocab_size for part in model.parts) and facts["lower_case"] is None
        assert (facts["dim"], facts["dtype"], facts["bytes"], facts["segment"]) == (25, "float32", model.nbytes, {})
        vectors = client.post("/api/embed", json={"texts": SENTENCES[:2]}).json()["vectors"]
        assert np.array_equal(np.array(vectors, np.float32), model.embed_raw_text(SENTENCES[:2]))
        answer = client.post("/v1/embeddings", json={"input": "the cat", "model": "any"}).json()
        assert answer["usage"]["prompt_tokens"] == sum(len(part.ids(["the cat"])[0]) for part in model.parts)
        assert client.post("/api/explain", json={"pair": ["the cat", "cat"]}).json()["score"] > 0


@pytest.fixture(scope="module")
def same_width(parts, singles):
    return [parts[0], random_model(parts[1].tokenizer, parts[0].dim, 4, {"languages": ["en"], "lower_case": True})]


@pytest.mark.parametrize("join", ["concat", "add"])
def test_parts_trained_together_are_joined_as_they_are(same_width, tmp_path, join):
    texts = ["", "zzzz", *SENTENCES]
    one, other = (part.embed_raw_text(texts) for part in same_width)
    expected = one + other if join == "add" else np.hstack([one, other])
    CombinedModel(same_width, join=join, scaled=False).save(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    np.testing.assert_allclose(loaded.embed_raw_text(texts), expected, rtol=0, atol=1e-6)
    assert (loaded.dim, loaded.joined_by, loaded.scaled) == (expected.shape[1], join, False)
    assert len({loaded.identity(), CombinedModel(same_width).identity()}) == 2
    again = loaded.quantized("int8")
    cosines = [again.score_raw_text([(text, text)])[0] for text in SENTENCES[:3]]
    np.testing.assert_allclose(cosines, 1, atol=1e-5)
    left, right = SENTENCES[:2]
    found = explain(loaded, left, right)
    for text in found["texts"]:
        assert sum(piece["share"] for piece in text) == pytest.approx(found["score"], abs=1e-5)


def test_what_is_joined_as_it_is_has_no_weights_and_is_not_combined_further(parts, same_width):
    with pytest.raises(ValueError, match="leave them out"):
        CombinedModel(same_width, [1, 2], scaled=False)
    with pytest.raises(ValueError, match="12 and 8 dimensions have no sum"):
        CombinedModel(parts[:2], join="add")
    with pytest.raises(DataError, match="cannot be combined further"):
        CombinedModel([CombinedModel(same_width, join="add"), parts[2]])
