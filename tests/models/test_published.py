"""Published checkpoints, against the published arithmetic written down plainly. The checkpoints are made here."""

from __future__ import annotations

import argparse
import errno
import json
import os
import random
import sys
import zipfile

import numpy as np
import pytest
import safetensors.numpy
import torch
from hypothesis import given
from hypothesis import strategies as st

import psp
from psp.cli.main import main
from psp.core.errors import DataError, PspError
from psp.models.published import import_checkpoint, read_checkpoint
from psp.text.sentencepiece_tokenizer import load_sentencepiece
from tests.conftest import SENTENCES, odd_text, on_a_full_disk, train_sentencepiece

DIM = 10
WITHOUT_ROW = ["▁s", "▁", "s", "ard"]
ARGS = {
    "model": "avg", "pool": "mean", "ngrams": 0, "tokenize": 0, "zero_unk": 1, "share_vocab": 1, "lower_case": 1,
    "dim": DIM, "lr": 0.001, "sp_model": "elsewhere/sp.model", "delta": 0.4, "load_file": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def sp_model(sentencepiece_model):
    return sentencepiece_model


def checkpoint(sp_model, **changed):
    """What the published code saves: rows in an order of their own, the unknown word last, Adam's state."""
    processor = load_sentencepiece(sp_model)
    pieces = [processor.id_to_piece(number) for number in range(3, processor.get_piece_size())]
    assert set(WITHOUT_ROW) <= set(pieces)
    pieces = [piece for piece in pieces if piece not in WITHOUT_ROW]
    random.Random(1).shuffle(pieces)
    vocab = {piece: row for row, piece in enumerate([*pieces, "UUUNKKK"])}
    model = torch.nn.Module()
    model.embedding = torch.nn.Embedding(len(vocab), DIM)
    with torch.no_grad():
        model.embedding.weight.copy_(torch.randn(len(vocab), DIM, generator=torch.Generator().manual_seed(1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.001)
    model.embedding(torch.tensor([1, 2])).sum().backward()
    optimizer.step()
    return {
        "state_dict": model.state_dict(),
        "vocab": vocab,
        "vocab_fr": None,
        "args": argparse.Namespace(**ARGS),
        "optimizer": optimizer.state_dict(),
        "epoch": 9,
    } | changed


@pytest.fixture(scope="module")
def published(tmp_path_factory, sp_model):
    path = tmp_path_factory.mktemp("published") / "model.pt"
    torch.save(checkpoint(sp_model), path)
    return path


def published_vectors(saved, sp_model, texts):
    """The published arithmetic: text to pieces, pieces to rows by their spelling, the mean of those that have one."""
    processor = load_sentencepiece(sp_model)
    vectors = []
    for text in texts:
        joined = " ".join(processor.encode(text.lower(), out_type=str)).strip().lower()
        rows = [saved["vocab"][token] for token in joined.split() if token in saved["vocab"]]
        rows = rows or [saved["vocab"]["UUUNKKK"]]
        vectors.append(torch.mean(saved["state_dict"]["embedding.weight"][rows], 0).numpy())
    return np.stack(vectors)


TEXTS = [*SENTENCES, "The CAT eats", "bread", "s", "日本", "bread 日", "the 🙂 cat", "ﬁnds le ℡ chien", "s" * 50]


def test_the_vectors_are_the_published_ones(published, sp_model, tmp_path):
    expected = published_vectors(checkpoint(sp_model), sp_model, TEXTS)
    config = import_checkpoint(published, sp_model, tmp_path / "out")
    model = psp.load_model(tmp_path / "out")
    np.testing.assert_allclose(model.embed_raw_text(TEXTS), expected, rtol=0, atol=1e-6)
    direct, nothing = psp.load_model(model_name=str(published), sp_model=str(sp_model))
    assert nothing is None
    assert np.array_equal(direct.embed_raw_text(TEXTS), model.embed_raw_text(TEXTS))
    assert {model.sentencepiece.id_to_piece(number) for number in config["left_out"]} == set(WITHOUT_ROW)
    # A text of pieces without a row alone is the unknown word.
    assert model.ids(["s s"])[0].tolist() == [model.unknown_id]
    assert model.embed_raw_text(["s s"]).any()


@pytest.fixture(scope="module")
def both(published, sp_model):
    """The checkpoint's content, and the model that we make of it."""
    return checkpoint(sp_model), psp.load_model(model_name=published, sp_model=sp_model)[0]


@given(texts=st.lists(odd_text, min_size=1, max_size=10))
def test_any_text_has_the_published_vector(both, sp_model, texts):
    saved, model = both
    vectors, expected = model.embed_raw_text(texts), published_vectors(saved, sp_model, texts)
    for text, vector, other in zip(texts, vectors, expected, strict=True):
        pieces = model.sentencepiece.encode(text.lower(), out_type=str)
        if not pieces:
            assert not vector.any()  # there an empty text is the unknown word
        elif all(piece.lower() == piece for piece in pieces):  # see psp/models/published.py
            np.testing.assert_allclose(vector, other, rtol=0, atol=1e-6)


def test_case_is_kept_where_the_checkpoint_says_so(sp_model, tmp_path):
    torch.save(checkpoint(sp_model, args=argparse.Namespace(**ARGS | {"lower_case": 0})), tmp_path / "model.pt")
    assert read_checkpoint(tmp_path / "model.pt", sp_model).config["lower_case"] is False


@pytest.mark.parametrize(
    "change", ["one vocabulary twice", "table of the other language", "old format", "half", "grad"]
)
def test_kinds_of_checkpoints_that_are_the_same_model(published, sp_model, tmp_path, change):
    saved = checkpoint(sp_model)
    if change == "one vocabulary twice":
        saved["vocab_fr"] = dict(saved["vocab"])
    elif change == "table of the other language":  # made by the published code, and not used by it
        saved["vocab_fr"] = dict(saved["vocab"])
        saved["state_dict"]["embedding_fr.weight"] = torch.randn(len(saved["vocab"]), DIM)
    elif change == "half":
        saved["state_dict"]["embedding.weight"] = saved["state_dict"]["embedding.weight"].half()
    elif change == "grad":
        saved["state_dict"]["embedding.weight"].requires_grad_()
    path = tmp_path / "model.pt"
    torch.save(saved, path, _use_new_zipfile_serialization=change != "old format")
    expected, found = read_checkpoint(published, sp_model), read_checkpoint(path, sp_model)
    np.testing.assert_allclose(found.weight, expected.weight, rtol=0, atol=2e-3 if change == "half" else 0)
    assert found.config == expected.config


def test_the_folder_is_an_ordinary_model(published, sp_model, tmp_path, capsys):
    main(["import-checkpoint", str(published), str(sp_model), str(tmp_path / "made/out")])
    assert "; 4 pieces have no embedding" in capsys.readouterr().out
    folder = tmp_path / "made/out"
    files = ["README.md", "config.json", "model.safetensors", "sentencepiece.model"]
    assert sorted(file.name for file in folder.iterdir()) == files
    config = json.loads((folder / "config.json").read_text())
    assert (config["lower_case"], config["imported_from"], config["dim"]) == (True, "model.pt", DIM)
    assert list(safetensors.numpy.load_file(folder / "model.safetensors")) == ["embedding.weight"]
    main(["import-checkpoint", str(published), str(sp_model), str(tmp_path / "again")])
    for file in folder.iterdir():
        assert file.read_bytes() == (tmp_path / "again" / file.name).read_bytes()


# ------------------------------------------------------------------------------------------------------- bad input


class Code:
    """Unpickled, it would make a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


@pytest.mark.parametrize("old", [False, True])
def test_code_in_a_pickle_is_not_run(sp_model, tmp_path, old):
    path = tmp_path / "model.pt"
    saved = checkpoint(sp_model, optimizer=Code(tmp_path / "made"))
    torch.save(saved, path, _use_new_zipfile_serialization=not old)
    with pytest.raises(DataError, match=r"model\.pt: holds posix\.mkdir, which may run code; nothing was run"):
        read_checkpoint(path, sp_model)
    assert not (tmp_path / "made").exists()
    torch.save(saved | {"optimizer": random.Random()}, path)
    with pytest.raises(DataError, match=r"holds random\.Random"):
        read_checkpoint(path, sp_model)


def without(mapping, name):
    return {key: value for key, value in mapping.items() if key != name}


def args(**changed):
    return {"args": argparse.Namespace(**ARGS | changed)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda saved: [saved], "not a checkpoint of the published code"),
        (lambda saved: without(saved, "args"), "not a checkpoint of the published code"),
        (lambda saved: saved | {"args": argparse.Namespace()}, "do not say whether text is lower-cased"),
        (lambda saved: saved | {"args": 3}, "do not say whether text is lower-cased"),
        (lambda saved: saved | args(model="lstm"), "model = 'lstm'; only models with model = 'avg'"),
        (lambda saved: saved | args(pool="max"), "pool = 'max'"),
        (lambda saved: saved | args(ngrams=3), "ngrams = 3"),
        (lambda saved: saved | args(zero_unk=0), "zero_unk = 0"),
        (lambda saved: saved | args(tokenize=1), "tokenize = 1"),
        (lambda saved: saved | args(share_vocab=0), "share_vocab = 0"),
        (lambda saved: saved | {"state_dict": {}}, "no embedding matrix, embedding.weight"),
        (
            lambda saved: saved | {"state_dict": {"embedding.weight": torch.zeros(3)}},
            "no embedding matrix, embedding.weight",
        ),
        (
            lambda saved: saved | {"state_dict": {"embedding.weight": saved["state_dict"]["embedding.weight"] / 0}},
            "not numbers below 1e15",
        ),
        *(
            (lambda saved, made=made: saved | {"state_dict": {"embedding.weight": made(saved)}}, "not stored number by")
            for made in (
                lambda saved: torch.ones(1, 1).expand(len(saved["vocab"]), 10**7),
                lambda saved: saved["state_dict"]["embedding.weight"].to_sparse(),
                lambda saved: saved["state_dict"]["embedding.weight"].to("meta"),
            )
        ),
        (lambda saved: saved | {"vocab": without(saved["vocab"], "▁th")}, "does not fit the embedding matrix of"),
        (lambda saved: saved | {"vocab": saved["vocab"] | {"▁th": 10**6}}, "does not fit the embedding matrix of"),
        (lambda saved: saved | {"vocab": saved["vocab"] | {"▁th": 0}}, "does not fit the embedding matrix of"),
        (lambda saved: saved | {"vocab": saved["vocab"] | {"▁th": "0"}}, "does not fit the embedding matrix of"),
        (lambda saved: saved | {"vocab": ["▁th"]}, "does not fit the embedding matrix of"),
        (
            lambda saved: saved | {"vocab": without(saved["vocab"], "UUUNKKK") | {"U": len(saved["vocab"]) - 1}},
            "no unknown word",
        ),
        (lambda saved: saved | {"vocab_fr": {"▁th": 0}}, "a vocabulary for each language"),
        (
            lambda saved: (
                saved | {"vocab": {p if p == "UUUNKKK" else f"{p}#": row for p, row in saved["vocab"].items()}}
            ),
            "are not in .*; name the sentencepiece model that it was trained with",
        ),
    ],
)
def test_what_does_not_fit_is_one_clear_error(sp_model, tmp_path, change, message):
    torch.save(change(checkpoint(sp_model)), tmp_path / "model.pt")
    with pytest.raises(DataError, match=rf"model\.pt: .*{message}") as caught:
        import_checkpoint(tmp_path / "model.pt", sp_model, tmp_path / "out")
    assert "\n" not in str(caught.value)
    assert [entry.name for entry in tmp_path.iterdir()] == ["model.pt"]


def test_a_missing_cut_or_foreign_file(published, sp_model, tmp_path):
    path = tmp_path / "model.pt"
    with pytest.raises(DataError, match=r"model\.pt: cannot be read: No such file"):
        read_checkpoint(path, sp_model)
    content = published.read_bytes()
    for damaged in (content[: len(content) // 2], content[:-30], b"", b"text\n", json.dumps(ARGS).encode()):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match=r"model\.pt: not a torch pickle, or truncated or damaged"):
            read_checkpoint(path, sp_model)
    for name, content in ("nothing", None), ("broken", b"text"):
        if content:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match=name):
            read_checkpoint(published, tmp_path / name)


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_STORED])
def test_one_that_was_zipped_again_has_the_same_vectors_or_is_refused(published, sp_model, tmp_path, method):
    path = tmp_path / "again.pt"
    with zipfile.ZipFile(published) as archive, zipfile.ZipFile(path, "w", method) as again:
        for name in archive.namelist():
            again.writestr(name, archive.read(name))
    assert np.array_equal(read_checkpoint(path, sp_model).weight, read_checkpoint(published, sp_model).weight)


def test_a_larger_sentencepiece_model_of_another_kind_is_refused(published, tmp_path):
    characters = train_sentencepiece(tmp_path / "more.model", vocab_size=420, model_type="bpe")
    with pytest.raises(DataError, match=r"of the \d+ pieces of .*more.model have no embedding in it|are not in .*more"):
        import_checkpoint(published, characters, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_what_is_in_the_way_stays(published, sp_model, tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(DataError, match="out: already exists"):
        import_checkpoint(published, sp_model, tmp_path / "out")


@pytest.mark.slow
def test_a_full_disk(published, sp_model, tmp_path):
    said = on_a_full_disk("import-checkpoint", published, sp_model, tmp_path / "out")
    assert f"{tmp_path / 'out/model.safetensors'}: cannot be written" in said and os.strerror(errno.EFBIG) in said
    assert not list(tmp_path.iterdir())


def test_torch_is_asked_for_by_its_extra(published, sp_model, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(PspError, match=r"pip install 'paraphrastic\[train\]'"):
        read_checkpoint(published, sp_model)


@pytest.mark.parametrize("arguments", [{}, {"model_name": "a"}, {"sp_model": "a"}, {"path": "a", "model_name": "b"}])
def test_half_a_call_is_refused(arguments):
    with pytest.raises(TypeError, match="both model_name and sp_model"):
        psp.load_model(**arguments)
