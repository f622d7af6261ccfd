"""``psp combine``: the model that the library makes of others, and what the other commands do with it."""

from __future__ import annotations

import json

import numpy as np
import pytest
import safetensors.numpy

from psp.cli.main import main
from psp.models import card_file
from psp.models.combined import CombinedModel
from psp.models.folder import load_model
from psp.models.static import StaticModel
from psp.text.word_tokenizer import WordTokenizer
from tests.cli.conftest import refused
from tests.conftest import SENTENCES


@pytest.fixture(scope="module")
def words_model(tmp_path_factory):
    """A model's folder: 7 dimensions, the vectors of its words random, case ignored."""
    folder = tmp_path_factory.mktemp("words") / "words"
    tokenizer = WordTokenizer([(word, 1) for word in sorted({word for text in SENTENCES for word in text.split()})])
    table = np.random.default_rng(2).standard_normal((len(tokenizer), 7), dtype=np.float32)
    StaticModel(table, tokenizer, {"languages": ["fr", "de"], "lower_case": True}).save(folder)
    return folder


@pytest.fixture(scope="module")
def both(small_model, words_model, tmp_path_factory):
    out = tmp_path_factory.mktemp("combined") / "both"
    main(["combine", str(small_model), str(words_model), "--weights", "1,0.5", "--out", str(out)])
    return out


def test_the_model_is_the_librarys(small_model, words_model, tmp_path, capsys):
    main(["combine", str(small_model), str(words_model), "--weights", "1,0.5", "--out", str(tmp_path / "a/model")])
    said = capsys.readouterr()
    made = load_model(tmp_path / "a/model")
    expected = CombinedModel([load_model(small_model), load_model(words_model)], [1, 0.5])
    assert made.embed_raw_text(SENTENCES).tobytes() == expected.embed_raw_text(SENTENCES).tobytes()
    assert made.weights == (1.0, 0.5) and made.config["languages"] == ["en", "fr", "de"]
    assert card_file.is_generated((tmp_path / "a/model/README.md").read_text())
    assert said.out == (
        f"{tmp_path}/a/model: {small_model} x 1, {words_model} x 0.5; 19 dimensions, {made.nbytes:,} bytes\n"
    )
    assert said.err == (
        f"warning: the models differ in lower-casing ({small_model}: no; {words_model}: yes); each part keeps its own\n"
    )
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["model"]


def test_other_differences_are_said(small_model, tmp_path, capsys):
    pytest.importorskip("jieba")
    model = load_model(small_model)
    other = StaticModel(
        model.weight, model.sentencepiece_model, {"prompts": {"query": "q: "}, "segment": {"zh": {"name": "jieba"}}}
    )
    other.save(tmp_path / "zh")
    main(["combine", str(small_model), str(tmp_path / "zh"), "--out", str(tmp_path / "model")])
    assert capsys.readouterr().err == (
        f"warning: the models differ in segmentation ({small_model}: none; {tmp_path}/zh: jieba); each part keeps its "
        f"own\nwarning: the models differ in prompts ({small_model}: none; {tmp_path}/zh: query); the combination has "
        "none\n"
    )


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ("1,2,3", "--weights 1,2,3: 3 weights for 2 models; give one for each"),
        ("1,0", "--weights 1,0: the weight 0.0 is not a number from 1e-15 to 1e+15"),
        ("1,one", "--weights 1,one: 'one' is not a number; write --weights 1,0.5"),
    ],
)
def test_weights_that_are_none(small_model, tmp_path, capsys, weights, said):
    out = tmp_path / "out"
    assert refused(capsys, "combine", small_model, small_model, "--weights", weights, "--out", out) == f"error: {said}"
    assert not list(tmp_path.iterdir())


def test_what_cannot_be_combined_is_one_line(small_model, tmp_path, capsys):
    out = tmp_path / "a/out"
    assert refused(capsys, "combine", small_model, "--out", out) == (
        "error: one model alone cannot be combined; name two or more"
    )
    assert refused(capsys, "combine", small_model, tmp_path / "none", "--out", out) == (
        f"error: {tmp_path}/none: no such folder; a model is a folder with config.json in it"
    )
    assert not list(tmp_path.iterdir())
    assert refused(capsys, "combine", small_model, small_model, "--out", tmp_path) == (
        f"error: {tmp_path}: already exists; name another place, or remove it first"
    )


def test_a_full_disk_leaves_nothing_behind(small_model, tmp_path, capsys, monkeypatch):
    def full_disk(*arguments):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(safetensors.numpy, "save_file", full_disk)
    said = refused(capsys, "combine", small_model, small_model, "--out", tmp_path / "out")
    assert said.startswith(f"error: {tmp_path}/out/") and "No space left on device" in said
    assert not list(tmp_path.iterdir())


# ----------------------------------------------------------------------------------------------------- other commands


def test_info_shows_the_parts(small_model, words_model, both, capsys):
    main(["info", str(small_model), "--json"])
    single = json.loads(capsys.readouterr().out)
    main(["info", str(both), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert (facts["dim"], facts["dtype"], facts["languages"]) == (19, "float32", ["en", "fr", "de"])
    assert facts["parts"][0] == {"weight": 1.0} | {k: v for k, v in single.items() if k not in ("format", "model")}
    assert (facts["parts"][1]["weight"], facts["parts"][1]["tokenizer"]) == (0.5, "word")
    main(["info", str(both)])
    said = capsys.readouterr().out
    for words in ("dimensions    19\n", "part 0, of weight 1:\n", "part 1, of weight 0.5:\n", "lower-casing  yes\n"):
        assert words in said


def test_lines_are_embedded_and_scored(both, tmp_path, capsys):
    lines = [*SENTENCES[:9], ""]
    (tmp_path / "lines.txt").write_text("".join(f"{line}\n" for line in lines))
    (tmp_path / "pairs.tsv").write_text(f"{lines[0]}\t{lines[1]}\n")
    out, model = tmp_path / "x.npy", load_model(both)
    main(["embed", str(both), str(tmp_path / "lines.txt"), "--out", str(out)])
    assert np.array_equal(np.load(out), model.embed_raw_text(lines))
    main(["embed", str(both), str(tmp_path / "lines.txt"), "--out", str(out), "--table", "int8", "--normalize"])
    assert np.array_equal(np.load(out), model.quantized("int8").encode(lines, normalize_embeddings=True))
    assert refused(capsys, "embed", both, tmp_path / "lines.txt", "--out", out, "--dim", "4") == (
        "error: --dim 4: dim is 4, but the first dimensions of a combination are those of its first parts "
        "alone; cut the models themselves, and combine them again"
    )
    main(["score", str(both), str(tmp_path / "pairs.tsv")])


def test_each_part_is_quantized(both, tmp_path, capsys):
    main(["quantize", str(both), str(tmp_path / "int8"), "--dtype", "int8"])
    made = load_model(tmp_path / "int8")
    assert [part.config["quantized_from"] for part in made.parts] == [
        {"dtype": "float32", "dim": 12},
        {"dtype": "float32", "dim": 7},
    ]
    assert capsys.readouterr().out.startswith(f"{tmp_path}/int8: int8, 19 dimensions, {made.nbytes:,} bytes; ")
    assert "the first dimensions of a combination" in refused(capsys, "quantize", both, tmp_path / "x", "--dim", "5")
