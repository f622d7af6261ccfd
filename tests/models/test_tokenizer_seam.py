"""A tokenizer that psp has not, added here alone: words between white space. Saved, loaded, searched, exported.

One that is trained with is in tests/workflow/test_new_kinds.py.
"""

from __future__ import annotations

import json
import pickle
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pytest
import safetensors.numpy

import psp.text.tokenizer
import psp.text.tokenizer_kinds
from psp.core.errors import DataError, PspError
from psp.inference.search.vectors import embed
from psp.inference.serve.pieces import explain
from psp.models import file_names, model_files, tokenizer_files
from psp.models.exports import export
from psp.models.folder import load_model, save_model
from psp.models.static import StaticModel
from psp.text.tokenizer import Encoded, Tokenizer, kinds, register
from tests.conftest import SENTENCES


class Words(Tokenizer):
    """What stands between white space; a word that comes once in the training text is unknown."""

    kind = "words"

    def __init__(self, words: list[str], config: Mapping[str, Any] | None = None) -> None:
        self._words = words
        self._ids = {word: number for number, word in enumerate(words)}
        super().__init__(config)

    @classmethod
    def of(cls, sentences: list[str]) -> Self:
        counts = Counter(word for sentence in sentences for word in sentence.split())
        return cls(["<unknown>", *sorted(word for word, count in counts.items() if count > 1)])

    @classmethod
    def load(cls, folder: Path, config: Mapping[str, Any]) -> Self:
        return cls((folder / "words.txt").read_text(encoding="utf-8").split("\n"), config)

    def contents(self) -> dict[str, bytes]:
        return {"words.txt": "\n".join(self._words).encode()}

    def __len__(self) -> int:
        return len(self._words)

    @property
    def unknown_id(self) -> int:
        return 0

    def piece(self, number: int) -> str:
        return self._words[number]

    def _encode(self, texts: list[str], threads: int) -> Encoded:
        found = [[self._ids.get(word, 0) for word in text.split()] for text in texts]
        ids = np.array([number for text in found for number in text], np.int32)
        return Encoded(ids, np.cumsum([0, *map(len, found)], dtype=np.int64))


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The kind is registered for a test."""
    monkeypatch.setattr(psp.text.tokenizer, "_kinds", dict(psp.text.tokenizer._kinds))
    assert register(Words) is Words


class Made(NamedTuple):
    tokenizer: Words
    model: Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """A model of words, with random vectors."""
    folder, tokenizer = tmp_path_factory.mktemp("words"), Words.of(SENTENCES)
    table = np.random.default_rng(1).standard_normal((len(tokenizer), 16), dtype=np.float32)
    save_model(folder / "model", table, tokenizer.with_preprocessing({"lower_case": True}), {"languages": ["en", "fr"]})
    return Made(tokenizer, folder / "model")


def test_the_folder_names_the_kinds_and_has_its_files_and_is_saved_again_the_same(made: Made, tmp_path: Path) -> None:
    config = json.loads((made.model / "config.json").read_text())
    assert (config["format"], config["kind"], config["encoder"]) == (1, "psp", {"kind": "mean"})
    assert config["tokenizer"].keys() == {"kind", "files"} and config["tokenizer"]["kind"] == "words"
    assert file_names(config) == ["config.json", "model.safetensors", "words.txt"]
    assert model_files(made.model) == [f"{made.model}/{name}" for name in file_names(config)]
    assert {path.name for path in made.model.iterdir()} == set(file_names(config))
    load_model(made.model).save(tmp_path / "again")
    for name in ("config.json", "model.safetensors", "words.txt"):
        assert (tmp_path / "again" / name).read_bytes() == (made.model / name).read_bytes()


def test_it_embeds_in_every_way_that_models_do(made: Made) -> None:
    texts = [*SENTENCES[:30], "", " ", "zzz", "THE cat zzz", "zzz yyy"]
    model = load_model(made.model)
    vectors = model.embed_raw_text(texts)
    rows = {word: model.weight[number] for number, word in enumerate(made.tokenizer.pieces())}
    for text, vector in zip(texts, vectors, strict=True):
        known = [rows[word] for word in text.lower().split() if word in rows]
        assert np.allclose(vector, np.mean(known, axis=0) if known else 0, atol=1e-6)
    for other in (
        pickle.loads(pickle.dumps(model)),
        load_model(made.model, accelerate=True),
        StaticModel(model.weight, made.tokenizer, {"lower_case": True}),
        StaticModel(model.weight, made.tokenizer.with_preprocessing({"lower_case": True})),
    ):
        assert np.array_equal(other.embed_raw_text(texts), vectors)
    small = model.quantized("int8", 8)
    assert small.embed_raw_text(texts).shape == (len(texts), 8)
    assert model.encode(texts[:3], output_value="token_embeddings")[0].shape == (len(texts[0].split()), 16)
    with pytest.raises(DataError, match=r"texts\[1\] is not valid Unicode: half a surrogate pair at character 4"):
        model.embed_raw_text(["the", "cat \ud800"])


def test_it_is_searched_and_explained(made: Made) -> None:
    model = load_model(made.model)
    assert embed(model, ["the cat", "zzz", ""])[1].tolist() == [0]
    assert model.identity() != StaticModel(model.weight, Words([*made.tokenizer.pieces()[:-1], "other"])).identity()
    found = explain(model, "The cat zzz", "le chat")
    assert [piece["piece"] for piece in found["texts"][0]] == ["the", "cat", "<unknown>"]
    assert sum(piece["share"] for piece in found["texts"][0]) == pytest.approx(found["score"], abs=1e-5)


def test_what_is_for_sentencepiece_alone_says_so(made: Made, tmp_path: Path) -> None:
    pytest.importorskip("onnx", reason="not installed (the extra export)")
    model = load_model(made.model)
    with pytest.raises(PspError, match="with a sentencepiece tokenizer; this one's is of the kind words"):
        model.sentencepiece  # noqa: B018
    with pytest.raises(PspError, match="there is none of the kind words: export to sentence-transformers or onnx"):
        export("static-embedding", model, tmp_path / "static", SENTENCES[:3])
    assert not (tmp_path / "static").exists()
    export("onnx", model, tmp_path / "onnx", SENTENCES[:3])  # the graph takes ids of any tokenizer, and says whose
    assert "nobody has written its tokenizer without psp" in (tmp_path / "onnx/README.md").read_text()


def test_readers_that_do_not_know_it_refuse_it(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(psp.text.tokenizer._kinds, "words")
    with pytest.raises(
        DataError,
        match=r"config\.json: .*tokenizer, 'words' \(known: sentencepiece, trigram, word\); import the module",
    ):
        load_model(made.model)


def test_a_name_stands_for_one_class() -> None:
    class Other(Words):
        pass

    with pytest.raises(ValueError, match=r"'words' is already the name of .*Words"):
        register(Other)
    assert set(kinds()) == {"subword", "trigram", "word", "words"}


@pytest.mark.parametrize("name", ["../words.txt", "/words.txt", "config.json", ".words", ""])
def test_a_file_is_never_looked_for_outside_of_the_folder(name: str) -> None:
    with pytest.raises(DataError, match="is not a name of a tokenizer's file"):
        tokenizer_files({"format": 1, "tokenizer": {"kind": "words", "files": {name: "0" * 64}}})


# ------------------------------------------------------------------------------------------------------ other encoders


def test_a_kind_of_encoder_that_is_not_known_is_refused(made: Made, tmp_path: Path) -> None:
    model = load_model(made.model)
    weights = np.linspace(0, 1, model.vocab_size, dtype=np.float32)
    save_model(
        tmp_path / "model", model.weight, made.tokenizer, {}, encoder={"kind": "weighted"}, tensors={"weights": weights}
    )
    with pytest.raises(DataError, match=r"unknown kind of encoder, 'weighted' \(known: .*mean.*\); install"):
        load_model(tmp_path / "model")
    with pytest.raises(DataError, match=r"load it with psp\.load_model"):
        StaticModel.load(tmp_path / "model")


def test_a_tensor_that_a_mean_has_not_is_refused(made: Made, tmp_path: Path) -> None:
    load_model(made.model).save(tmp_path / "model")
    path = tmp_path / "model/model.safetensors"
    safetensors.numpy.save_file(safetensors.numpy.load_file(path) | {"gates": np.ones(3, np.float32)}, path)
    with pytest.raises(DataError, match=r"model\.safetensors: holds gates, which a mean does not have"):
        load_model(tmp_path / "model")
