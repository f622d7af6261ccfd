"""What a model has as sentence-transformers' models have it: beside the real thing where that is installed."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from psp.core.errors import DataError
from psp.models.exports import export
from psp.models.folder import load_model
from psp.models.static import StaticModel
from psp.models.text_model import UNAVAILABLE, TextModel
from tests.conftest import SENTENCES, odd_text, served, write_model

DIM = 12
PROMPTS = {"query": "the cat ", "passage": "bread: "}
TEXTS = ["the cat eats bread", "le chat", "two letters", "日 river", "", "un chien mange une pomme"]

sentence_transformers = pytest.mark.skipif(
    importlib.util.find_spec("sentence_transformers") is None,
    reason="sentence-transformers is not installed (the extra sentence-transformers)",
)


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return load_model(write_model(tmp_path_factory.mktemp("model"), lower_case=False, prompts=PROMPTS))


@pytest.fixture(scope="module")
def theirs(model):
    """The same table as a model of sentence-transformers."""
    from sentence_transformers import SentenceTransformer

    from psp.models.exports.module import PspModel

    return SentenceTransformer(modules=[PspModel(model)], device="cpu", prompts=dict(PROMPTS))


# ------------------------------------------------------------------------------------- beside sentence-transformers


@sentence_transformers
def test_arguments_are_in_the_same_order_with_the_same_defaults(model, theirs):
    ours = [part for part in inspect.signature(model.encode).parameters.values() if part.name != "sentences"]
    others = [part for part in inspect.signature(theirs.encode).parameters.values() if part.kind != part.VAR_KEYWORD]
    assert [part.name for part in ours] == [part.name for part in others]
    differ = {part.name for part, other in zip(ours, others, strict=True) if part.default != other.default}
    assert differ == {"inputs", "batch_size"}  # inputs may be given as `sentences`


@sentence_transformers
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"normalize_embeddings": True},
        {"truncate_dim": 9, "normalize_embeddings": True},
        {"prompt": "my sister "},
        {"prompt_name": "passage"},
        {"precision": "int8"},
        {"precision": "uint8", "truncate_dim": 9},
        {"precision": "binary", "truncate_dim": 9},
        {"precision": "ubinary"},
        {"precision": "binary", "convert_to_tensor": True},
        {"convert_to_tensor": True, "normalize_embeddings": True},
        {"convert_to_numpy": False},
    ],
    ids=str,
)
def test_vectors_are_those_of_sentence_transformers(model, theirs, options):
    found, expected = model.encode(TEXTS, **options), theirs.encode(TEXTS, **options)
    assert type(found) is type(expected)
    if isinstance(found, list):
        assert {type(vector) for vector in found} == {type(vector) for vector in expected}
        assert found[0].dtype == expected[0].dtype
    else:
        assert found.dtype == expected.dtype
    left, right = (np.array([np.asarray(vector, np.float64) for vector in side]) for side in (found, expected))
    assert left.shape == right.shape
    if "binary" in options.get("precision", ""):
        assert np.array_equal(left, right)
    else:  # of int8 and uint8 a step where a last bit differs
        np.testing.assert_allclose(left, right, rtol=0, atol=1 if "precision" in options else 1e-6)
    if options.get("precision") in (None, "binary", "ubinary"):
        alone, other = model.encode(TEXTS[0], **options), theirs.encode(TEXTS[0], **options)
        assert type(alone) is type(other) and alone.shape == other.shape
        np.testing.assert_allclose(np.asarray(alone), left[0], atol=1e-6)


@sentence_transformers
def test_queries_and_documents_have_their_prompts(model, theirs):
    for name, asked in (("encode_query", {}), ("encode_document", {}), ("encode_document", {"prompt_name": "passage"})):
        found, expected = getattr(model, name)(TEXTS, **asked), getattr(theirs, name)(TEXTS, **asked)
        np.testing.assert_allclose(found, expected, atol=1e-6)
    assert dict(model.prompts) == dict(theirs.prompts)
    assert model.get_embedding_dimension() == theirs.get_embedding_dimension()
    assert model.max_seq_length == theirs.max_seq_length
    assert (model.device, model.similarity_fn_name) == (str(theirs.device), theirs.similarity_fn_name)
    ours, features = model.tokenize(TEXTS), theirs.preprocess(TEXTS)
    for name, value in features.items():
        if hasattr(value, "numpy"):
            assert np.array_equal(ours[name], value.numpy()) and ours[name].dtype == value.numpy().dtype
    assert ours.keys() >= {"input_ids", "offsets"}


@sentence_transformers
@pytest.mark.parametrize("precision", [None, "int8"])
def test_an_evaluator_of_similarity(model, theirs, precision):
    from sentence_transformers.sentence_transformer.evaluation import EmbeddingSimilarityEvaluator

    sides = SENTENCES[0:60:2], SENTENCES[1:60:2]
    gold = np.random.default_rng(3).random(30).tolist()
    evaluator = EmbeddingSimilarityEvaluator(*sides, gold, name="toy", write_csv=False, precision=precision)
    found = model.evaluate(evaluator)
    assert model.model_card_data.eval_results_dict[evaluator] == found
    expected = EmbeddingSimilarityEvaluator(*sides, gold, name="toy", write_csv=False, precision=precision)(theirs)
    assert found == pytest.approx(expected, abs=1e-5 if precision is None else 0.02)
    if precision is None:
        assert found["toy_pearson_cosine"] == pytest.approx(
            np.corrcoef(model.score_raw_text(list(zip(*sides, strict=True))), gold)[0, 1], abs=1e-5
        )


@sentence_transformers
def test_an_evaluator_of_retrieval_takes_our_similarity_of_tensors(model):
    from sentence_transformers.sentence_transformer.evaluation import InformationRetrievalEvaluator

    corpus = {str(number): text for number, text in enumerate(SENTENCES[:30])}
    queries = {key: corpus[key] for key in ("3", "8")}
    plain = StaticModel(model.weight, model.sentencepiece_model)  # without prompts, a text is nearest to itself
    found = plain.evaluate(
        InformationRetrievalEvaluator(queries, corpus, {key: {key} for key in queries}, write_csv=False)
    )
    assert found["cosine_accuracy@1"] == 1


def blocks():
    """The code of docs/guide/use.md for other libraries: how it begins, and that of each library by its heading."""
    page = (Path(__file__).parents[2] / "docs/guide/use.md").read_text(encoding="utf-8")
    first, *sections = page.partition("\n## In other libraries\n")[2].partition("\n## ")[0].split("\n### ")
    found = {section.partition("\n")[0]: section for section in (f"\n{first}", *sections)}
    return {name: re.findall(r"```py\n(.*?)```", text, re.DOTALL) for name, text in found.items()}


def run(library, package, model, tmp_path):
    """Run a library's code there on a model; its names."""
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed (the extra peers, or mteb; bertopic is in no extra: it is large)")
    model.save(tmp_path / "model")
    names = {}
    for code in [*blocks()[""], *blocks()[library]]:
        exec(code.replace("results/demo/model", str(tmp_path / "model")), names)
    return names


def test_each_library_of_the_page_has_its_test():
    assert blocks().keys() == {"", "sentence-transformers", "LangChain", "BERTopic", "mteb"}
    assert all(len(code) == 1 for code in blocks().values())


def test_sentence_transformers_as_the_page_has_it(model, tmp_path):
    names = run("sentence-transformers", "sentence_transformers", model, tmp_path)
    cosines = model.similarity(model.encode_query("a cat"), model.encode_document(names["texts"]))[0]
    assert [hit["corpus_id"] for hit in names["hits"][0]] == np.argsort(-cosines).tolist()
    assert len(names["pairs"]) == 6


@pytest.mark.slow
def test_langchain_as_the_page_has_it(model, tmp_path):
    names = run("LangChain", "langchain_core", model, tmp_path)
    cosines = model.similarity(model.encode_query("a cat"), model.encode_document(names["texts"]))[0]
    assert [one.page_content for one in names["found"]] == [names["texts"][i] for i in np.argsort(-cosines)[:2]]


@pytest.mark.slow
def test_mteb_as_the_page_has_it(model, tmp_path, monkeypatch):
    export("sentence-transformers", model, tmp_path / "exported", [])
    monkeypatch.chdir(tmp_path)
    names = run("mteb", "mteb", model, tmp_path)
    cosines = model.similarity(model.encode(names["texts"][:1]), model.encode(names["texts"][1:]))[0]
    assert names["spearman"] == pytest.approx(spearmanr(cosines, [5, 0, 0]).statistic)
    with served(tmp_path / "model") as server:
        wrapper = names["mteb"].models.OpenAIAPIEncodeWrapper(
            server.address, "model", use_chat_template=False, modalities=["text"]
        )
        result = names["mteb"].evaluate(wrapper, names["task"], cache=None)
    assert result.task_results[0].get_score() == pytest.approx(names["spearman"])


@pytest.mark.slow
def test_bertopic_as_the_page_has_it(model, tmp_path):
    names = run("BERTopic", "bertopic", model, tmp_path)
    embedded = names["topic_model"].embedding_model.embed(names["texts"])
    assert np.array_equal(embedded, model.encode(names["texts"]))
    topics = np.array(names["topics"]).reshape(100, 4)
    assert (topics == topics[0]).all()  # a text has one topic, however often it comes
    assert len(set(topics[0])) > 1


# ------------------------------------------------------------------------------------------------------ by itself


@given(texts=st.lists(odd_text, max_size=6), prompt=odd_text)
def test_a_prompt_is_put_before_each_text(model, texts, prompt):
    expected = model.embed_raw_text([prompt + text for text in texts])
    np.testing.assert_allclose(model.encode(texts, prompt=prompt), expected, atol=1e-6)


def test_prompts_by_name_and_what_comes_first(model, caplog):
    assert dict(model.prompts) == {"query": "the cat ", "document": "", "passage": "bread: "}
    expected = model.encode("bread: river")
    assert np.array_equal(model.encode("river", prompt_name="passage"), expected)
    assert np.array_equal(model.encode("river", "passage"), expected)
    assert np.array_equal(model.encode_query("river"), model.encode("the cat river"))
    assert np.array_equal(model.encode_query("river", prompt_name="passage"), expected)
    assert np.array_equal(model.encode_document("river"), model.encode("river"))
    assert not caplog.records
    assert np.array_equal(model.encode("river", prompt="bread: ", prompt_name="query"), expected)
    assert "prompt_name, 'query', is ignored" in caplog.text


@pytest.mark.parametrize("prompts", [["query: "], {"query": None}, {1: "q"}, "query: "])
def test_prompts_that_are_no_texts_are_refused(model, prompts):
    with pytest.raises(DataError, match=r"config\.json: prompts is"):
        StaticModel(model.weight, model.sentencepiece_model, {"prompts": prompts})


@given(texts=st.lists(odd_text, max_size=6))
def test_a_vector_is_the_mean_of_its_tokens(model, texts):
    tokens, vectors = model.encode(texts, output_value="token_embeddings"), model.encode(texts)
    whole = model.encode(texts, output_value=None)
    ids, offsets = model.ids(texts)
    assert len(tokens) == len(whole) == len(texts)
    for number, (rows, features) in enumerate(zip(tokens, whole, strict=True)):
        own = ids[offsets[number] : offsets[number + 1]]
        assert np.array_equal(rows, model.weight[own]) and rows.dtype == np.float32
        assert np.array_equal(features["token_embeddings"], rows)
        assert np.array_equal(features["input_ids"], own)
        assert np.array_equal(features["sentence_embedding"], vectors[number])
        if len(own):
            np.testing.assert_allclose(rows.mean(axis=0), vectors[number], atol=1e-6)
    alone = model.encode("the cat", output_value="token_embeddings", precision="ubinary")
    assert (alone.dtype, alone.shape) == (np.uint8, (len(model.ids(["the cat"])[0]), 2))


def test_tensors_only_where_they_are_asked_for(model):
    code = """
import sys, numpy as np
from psp.models.text_model import TextModel
from psp.models.static import StaticModel
model = StaticModel(np.ones((int(sys.argv[1]), 3), np.float32), sys.argv[2])
model.encode(["a", "b"], output_value=None); model.similarity(model.encode("a"), model.encode("b")); repr(model)
assert "torch" not in sys.modules
sys.modules["torch"] = None
try:
    model.encode("a", convert_to_tensor=True)
except Exception as error:
    print(type(error).__name__, error)
"""
    command = [sys.executable, "-c", code, str(model.vocab_size), str(model.sentencepiece_model)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.stdout.startswith("PspError tensors need the package torch: pip install torch"), result.stderr


def test_similarities_of_tensors_are_tensors(model):
    torch = pytest.importorskip("torch")
    arrays, tensors = model.encode(TEXTS), model.encode(TEXTS, convert_to_tensor=True)
    for compare in (model.similarity, model.similarity_pairwise):
        expected = compare(arrays, arrays)
        assert isinstance(expected, np.ndarray)
        for given_ in (tensors, list(tensors)):
            found = compare(given_, given_)
            assert isinstance(found, torch.Tensor)
            assert np.array_equal(found.numpy(), expected)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({}, TypeError, "give inputs, a str or a list of them"),
        ({"inputs": "a", "sentences": "b"}, TypeError, "or sentences, their older name"),
        ({"inputs": "a", "prompt_name": 64}, TypeError, "prompt_name is 64, not a str; write batch_size=N"),
        ({"inputs": "a", "prompt": ["b"]}, TypeError, r"prompt is \['b'\], not a str"),
        ({"inputs": "a", "prompt_name": "sts"}, ValueError, "prompt_name is 'sts'; the model's prompts are query, doc"),
        ({"inputs": "a", "device": "cuda"}, ValueError, "device is 'cuda': it runs on the CPU; for a GPU, `psp export"),
        ({"inputs": "a", "device": ["cpu", "cpu"]}, ValueError, "device is a list: one process does the work"),
        ({"inputs": "a", "pool": {}}, ValueError, "pool is given: one process does the work"),
        ({"inputs": "a", "precision": "int4"}, ValueError, "precision is 'int4'; there are float32, int8"),
        ({"inputs": "a", "precision": "int8"}, ValueError, "whose ranges come from the vectors themselves"),
        ({"inputs": "a", "precision": "int8", "output_value": None}, ValueError, "for vectors alone"),
        ({"inputs": "a", "output_value": "logits"}, ValueError, "there are 'sentence_embedding', 'token_embeddings'"),
        ({"inputs": "a", "task": "query"}, TypeError, "task"),
    ],
)
def test_what_cannot_be_had_is_refused_with_the_reason(model, arguments, error, message):
    with pytest.raises(error, match=message):
        model.encode(**arguments)


def test_the_older_name_of_inputs_and_the_one_device(model):
    expected = model.encode(TEXTS)
    for options in ({"sentences": TEXTS}, {"inputs": TEXTS, "device": "cpu", "chunk_size": 3, "precision": None}):
        assert np.array_equal(model.encode(**options), expected)
    assert np.array_equal(model.encode(np.array(TEXTS)), expected)


def test_no_text_has_a_shape(model):
    assert model.encode([], precision="int8").shape == (0, DIM)
    assert model.encode([], precision="ubinary").shape == (0, 2)
    assert model.encode([], output_value=None) == []


@pytest.mark.parametrize("name", UNAVAILABLE)
def test_what_a_model_has_not_says_why(model, name):
    assert not hasattr(model, name)
    with pytest.raises(AttributeError, match=f"a psp model has no {name}: "):
        getattr(model, name)


def test_what_nobody_knows_is_an_attribute_error(model):
    with pytest.raises(AttributeError, match=r"a psp model has no encoed$"):
        _ = model.encoed


def test_settings_that_are_fixed(model):
    with pytest.raises(ValueError, match="max_seq_length is 512: a psp model reads texts whole"):
        model.max_seq_length = 512
    with pytest.raises(ValueError, match="similarity_fn_name is 'dot': psp models are trained for the cosine"):
        model.similarity_fn_name = "dot"
    model.max_seq_length, model.similarity_fn_name = None, "cosine"


def test_truncate_dim_of_the_model(model):
    small = model.quantized("float16")
    small.truncate_dim = 5
    assert small.encode(TEXTS).shape == (len(TEXTS), 5) and model.encode(TEXTS).shape == (len(TEXTS), DIM)
    assert small.encode(TEXTS, truncate_dim=7).shape == (len(TEXTS), 7)
    assert small.get_embedding_dimension() == small.get_sentence_embedding_dimension() == 5
    assert small.embed_raw_text(TEXTS).shape == (len(TEXTS), DIM)
    assert pickle.loads(pickle.dumps(small)).encode(TEXTS).shape == (len(TEXTS), 5)
    assert small.quantized(dim=4).encode(TEXTS).shape == (len(TEXTS), 4)


def test_metrics_of_a_model_are_not_those_of_the_one_it_was_made_of(model):
    small = model.quantized("int8")
    small.model_card_data.set_evaluation_metrics("sts", {"pearson": 0.5})
    assert small.model_card_data.eval_results_dict == {"sts": {"pearson": 0.5}}
    assert small.quantized("float32").model_card_data.eval_results_dict == {}
    assert small.model_card_data.language == ["en", "fr"]


def test_from_pretrained_loads_and_a_model_says_what_it_is(model, tmp_path):
    model.save(tmp_path / "model")
    assert load_model(tmp_path / "model").prompts == model.prompts
    again = TextModel.from_pretrained(tmp_path / "model", dtype="float16", dim=5)
    assert np.array_equal(again.encode(TEXTS), load_model(tmp_path / "model", dtype="float16", dim=5).encode(TEXTS))
    assert repr(again) == f"<psp.Model: en, fr; {model.vocab_size} subwords, 5 dimensions, float16>"
    with pytest.raises(DataError, match="hf://user/name"):
        TextModel.from_pretrained("hf://nothing")
