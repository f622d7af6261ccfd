"""``psp train``, from a store and from the text that it was made from."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from psp.cli.main import main
from psp.core.files import read_json
from psp.models.model import load_model
from psp.pairs.store import write_store
from psp.text.trigram_tokenizer import TrigramTokenizer
from psp.text.word_tokenizer import WordTokenizer
from psp.training.piece_vectors import read_piece_vectors
from tests.conftest import PAIRS, train_sentencepiece, write_mixed

QUICK = ["--threads", "1", "--set", "epochs=2", "batch_size=16", "megabatch=3", "anneal=2", "dim=8", "log_every=1"]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    model = train_sentencepiece(folder / "sp.model")
    mixed = write_mixed(folder / "pairs.tsv", [(*pair, 0) for pair in PAIRS])
    write_store(mixed, model, folder / "store.h5", languages=["en", "fr"], corpora=["made"])
    (folder / "heldout.tsv").write_text(
        "the cat sees bread here\tle chat voit du pain ici\na dog eats\tun chien mange\n"
    )
    return folder


def train(data: Path, out: Path, pairs: str, *options: str) -> None:
    main(["train", str(data / pairs), "--sentencepiece", str(data / "sp.model"), "--out", str(out), *options])


def test_text_gives_the_very_files_that_its_store_gives(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    development = ["--development", str(data / "heldout.tsv")]
    train(data, tmp_path / "a/model", "store.h5", *QUICK, "dropout=0.1", *development)
    printed = capsys.readouterr().out
    assert "trained on 480 pairs, validation score" in printed
    assert f"metrics are in {tmp_path / 'a/model-train'}" in printed
    train(
        data, tmp_path / "b/model", "pairs.tsv", "--languages", "en,fr", "--train-dir", str(tmp_path / "b/model-train"),
        *QUICK, "--set", "dropout=0.1", *development,
    )  # fmt: skip
    files = {path.relative_to(tmp_path / "a") for path in (tmp_path / "a").rglob("*") if path.is_file()}
    assert {Path("model/model.safetensors"), Path("model-train/metrics.csv"), Path("model-train/dev.csv")} < files
    for path in files - {Path("model-train/timing.csv")}:
        assert (tmp_path / "a" / path).read_bytes() == (tmp_path / "b" / path).read_bytes(), path
    report = read_json(tmp_path / "a/model-train/train.json")
    assert report["settings"]["dropout"] == 0.1 and report["settings"]["dim"] == 8 and report["threads"] == 1
    assert len(report["development"]) == 2


def test_what_it_trains_is_a_model_that_psp_loads(tmp_path: Path, data: Path) -> None:
    train(data, tmp_path / "model", "store.h5", *QUICK)
    model = load_model(tmp_path / "model")
    assert model.config["languages"] == ["en", "fr"] and model.config["lower_case"] is True
    assert model.embed_raw_text(["The cat"]).tolist() == model.embed_raw_text(["the cat"]).tolist()


def test_a_vocabulary_with_capitals_keeps_them(tmp_path: Path, data: Path) -> None:
    model = train_sentencepiece(tmp_path / "sp.model", user_defined_symbols=["Cat"])
    rows = [(source.replace("cat", "Cat"), target, 0) for source, target in PAIRS]
    write_store(
        write_mixed(tmp_path / "mix.tsv", rows), model, tmp_path / "store.h5", languages=["en"], corpora=["made"]
    )
    train(tmp_path, tmp_path / "model", "store.h5", *QUICK)
    assert load_model(tmp_path / "model").config["lower_case"] is False
    assert load_model(tmp_path / "model").config["languages"] == ["en"]


def words(data: Path, out: Path, *options: str, pairs: str = "pairs.tsv") -> None:
    languages = ["--languages", "en,fr"] if pairs.endswith("tsv") else []
    main(["train", str(data / pairs), "--out", str(out), *languages, *QUICK, *options])


@pytest.mark.parametrize("kind", ["word", pytest.param("trigram", marks=pytest.mark.slow)])
def test_words_and_trigrams_are_collected_from_the_text_or_read(tmp_path: Path, data: Path, kind: str) -> None:
    words(data, tmp_path / "a/model", "--encoder", kind, "--collect", "min_count=1", "size=90")
    collected = tmp_path / "a/model-train/vocabulary.txt"
    report = read_json(collected.with_suffix(".json"))
    assert (report["kind"], report["asked"], report["min_count"], report["sentences"]) == (kind, 90, 1, 2 * len(PAIRS))
    assert (tmp_path / "a/model/vocabulary.txt").read_bytes() == collected.read_bytes()
    model = load_model(tmp_path / "a/model")
    assert model.tokenizer.kind == kind and model.config["lower_case"] is True and model.dim == 8
    settings = read_json(tmp_path / "a/model-train/train.json")["settings"]
    assert settings["init_spelling"] == (0.6 if kind == "word" else 0)
    # The same from the vocabulary's file, and from a store; its kind is read off the file.
    mixed = write_mixed(tmp_path / "pairs.tsv", [(*pair, 0) for pair in PAIRS])
    write_store(mixed, collected, tmp_path / "store.h5", languages=["en", "fr"], corpora=["made"])
    words(tmp_path, tmp_path / "b/model", "--vocabulary", str(collected))
    words(tmp_path, tmp_path / "c/model", "--vocabulary", str(collected), "--encoder", kind, pairs="store.h5")
    for other in ("b", "c"):
        for name in ("model/model.safetensors", "model/config.json", "model-train/metrics.csv"):
            assert (tmp_path / "a" / name).read_bytes() == (tmp_path / other / name).read_bytes(), (other, name)


def test_an_lstm_starts_from_what_is_there(tmp_path: Path, data: Path) -> None:
    words(data, tmp_path / "words", "--encoder", "word")
    vocabulary = ["--vocabulary", str(tmp_path / "words-train/vocabulary.txt")]
    vectors = tmp_path / "words.vec"
    main(["export", "word2vec", str(tmp_path / "words"), str(vectors)])
    lstm = ["--encoder", "blstm", "--lstm", "width=6", "combine=concat"]
    reports = []
    for name, start in (("a", ["--init-from", str(tmp_path / "words")]), ("b", ["--init-vectors", str(vectors)])):
        words(data, tmp_path / name, *lstm, *vocabulary, *start)
        reports.append(read_json(tmp_path / f"{name}-train/train.json"))
    model = load_model(tmp_path / "a")
    assert (model.contextual.kind, model.dim) == ("blstm", 12)
    assert reports[0]["encoder"]["width"] == 6 and reports[0]["encoder"]["combine"] == "concat"
    for report in reports:
        assert report["initialised_from"]["taken_over"] >= report["vocabulary"] - 1
    over = ["--sentencepiece", str(data / "sp.model"), "--encoder", "lstm"]
    words(data, tmp_path / "subwords", *over, pairs="store.h5")
    assert load_model(tmp_path / "subwords").tokenizer.kind == "subword"


def test_training_starts_from_an_encoders_vectors_of_the_pieces(tmp_path: Path, data: Path) -> None:
    words(data, tmp_path / "words", "--encoder", "word")
    vocabulary = ["--vocabulary", str(tmp_path / "words-train/vocabulary.txt")]
    start = ["--init-encoder", str(tmp_path / "words"), "--set", "init_encoder_share=1", "init_encoder_whitening=0"]
    words(data, tmp_path / "started", "--encoder", "word", *vocabulary, *start)
    words(data, tmp_path / "plain", "--encoder", "word", *vocabulary)
    teacher = load_model(tmp_path / "words")
    pieces = teacher.tokenizer.pieces()
    rows, vectors = read_piece_vectors(tmp_path / "started-train/piece_vectors.safetensors", pieces)
    assert np.allclose(vectors, teacher.embed_raw_text([pieces[row] for row in rows]), atol=1e-5)
    assert read_json(tmp_path / "started-train/train.json")["init_encoder"] == str(tmp_path / "words")
    started, plain = (load_model(tmp_path / name).weight for name in ("started", "plain"))
    assert not np.allclose(started, plain)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--encoder", "trigram", "--init-encoder", "x"], "--init-encoder: an encoder cannot embed these pieces"),
        ([], "--sentencepiece: is missing; name the model, or write --encoder word"),
        (["--encoder", "subword"], "--sentencepiece: is missing"),
        (["--encoder", "wrd"], "--encoder wrd: write one of subword, word, trigram, lstm, blstm"),
        (["--encoder", "transformer"], "--encoder transformer: a transformer is trained only by the workflow"),
        (["--encoder", "teacher"], "a teacher is trained only by the workflow: write it into a config; see docs/"),
        (["--encoder", "word", "--set", "teacher=x"], "a teacher's vectors are made only by the workflow"),
        (["--encoder", "word", "--sentencepiece", "{sp}"], "--encoder word: --sentencepiece holds subwords; name a"),
        (["--sentencepiece", "{sp}", "--vocabulary", "{words}"], "a model has one vocabulary"),
        (["--encoder", "trigram", "--vocabulary", "{words}"], "vocabulary.txt holds words; name a vocabulary of trigr"),
        (["--encoder", "lstm", "--vocabulary", "{trigrams}"], "an LSTM reads words or subwords, and"),
        (["--vocabulary", "{sp}"], "holds no words or trigrams; write --sentencepiece for subwords"),
        (["--vocabulary", "nothing.txt"], "--vocabulary nothing.txt: no such file"),
        (["--encoder", "word", "--lstm", "width=3"], "--lstm: is for --encoder lstm and blstm"),
        (
            ["--encoder", "lstm", "--lstm", "widht=3"],
            "lstm.widht: no such key; did you mean width?; allowed are width, ",
        ),
        (["--encoder", "lstm", "--lstm", "scramble=2"], "lstm.scramble: 2 is not allowed"),
        (["--encoder", "word", "--collect", "size=0"], "vocabulary.size: 0 is not allowed; allowed is a whole number"),
        (["--encoder", "word", "--collect", "most=3"], "vocabulary.most: no such key; allowed are size, min_count"),
        (["--encoder", "word", "--collect", "min_count=9999"], "no word of"),
        (["--vocabulary", "{words}", "--collect", "size=3"], "--collect: is for a vocabulary collected"),
        (["--encoder", "trigram", "--init-vectors", "x.vec"], "are vectors of words, and this model reads trigrams"),
        (["--encoder", "word", "--init-vectors", "x", "--init-from", "y"], "training can start from one only"),
        (["--encoder", "word", "--init-vectors", "nothing.vec"], "nothing.vec: cannot be read"),
        (["--encoder", "word", "--init-from", "nothing"], "nothing: no such folder; a model is"),
    ],
)
def test_bad_encoders_are_one_line(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    files = {"sp": data / "sp.model", "words": tmp_path / "vocabulary.txt", "trigrams": tmp_path / "trigrams.txt"}
    files["words"].write_bytes(WordTokenizer([("the", 2), ("cat", 1)]).contents()["vocabulary.txt"])
    files["trigrams"].write_bytes(TrigramTokenizer([("the", 2), ("cat", 1)]).contents()["vocabulary.txt"])
    with pytest.raises(SystemExit) as caught:
        words(data, tmp_path / "model", *(option.format(**files) for option in options))
    assert caught.value.code == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and message in errors[0]
    assert not (tmp_path / "model").exists()


def test_a_store_needs_its_vocabulary(tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        words(data, tmp_path / "model", "--encoder", "word", pairs="store.h5")
    assert "holds ids of a vocabulary: name its file with --vocabulary" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("pairs", "options", "message"),
    [
        ("store.h5", ["--set", "epoch=1"], "train.epoch: no such key; did you mean epochs?; allowed are epochs, "),
        ("store.h5", ["--set", "dropout=1.5"], "train.dropout: 1.5 is not allowed; allowed is a number, at least 0"),
        ("store.h5", ["--set", "epochs=three"], "train.epochs: 'three' is not allowed"),
        ("store.h5", ["--set", "epochs"], "--set epochs: write key=value"),
        ("store.h5", ["--checkpoint", "minutes"], "--checkpoint minutes: write key=value"),
        ("store.h5", ["--checkpoint", "keep=0"], "train.checkpoint.keep: 0 is not allowed; allowed is a whole number"),
        ("store.h5", ["--set", "=1"], "--set =1: write key=value"),
        ("store.h5", ["--threads", "0"], "threads: 0 is not allowed"),
        ("store.h5", ["--languages", "en,de"], "store.h5 holds en,fr; leave it out"),
        ("store.h5", ["--languages", "en fr"], "--languages en fr: write comma-separated ISO 639-1 codes"),
        ("store.h5", ["--development", "nothing.tsv"], "nothing.tsv: cannot be read"),
        ("store.h5", ["--sentencepiece", "nothing.model"], "nothing.model: cannot be read"),
        ("pairs.tsv", [], "pairs.tsv is text: write --languages en,fr"),
        ("pairs.tsv", ["--languages", "en,de,fr"], "text does not say which"),
        ("nothing.h5", [], "nothing.h5: cannot be read"),
        ("broken.tsv", ["--languages", "en,fr"], "broken.tsv, line 2: 1 columns where the first line has 2"),
        ("sp.model", ["--languages", "en,fr"], "sp.model, line 1: "),
    ],
)
def test_bad_input_is_one_line_and_leaves_no_model(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str], pairs: str, options: list[str], message: str
) -> None:
    (data / "broken.tsv").write_text("bread\tpain\nbread\n")
    with pytest.raises(SystemExit) as caught:
        train(data, tmp_path / "model", pairs, *options)
    assert caught.value.code == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if line.startswith("error: ")]
    assert len(errors) == 1 and message in errors[0]
    assert not (tmp_path / "model").exists()


def test_a_file_where_the_model_should_go_is_told_at_once(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "model").write_text("mine")
    with pytest.raises(SystemExit):
        train(data, tmp_path / "model", "store.h5", *QUICK)
    assert "is a file; name a folder" in capsys.readouterr().err
    assert (tmp_path / "model").read_text() == "mine"


def test_a_finished_model_is_replaced_by_force_alone(
    tmp_path: Path, data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    train(data, tmp_path / "model", "store.h5", *QUICK)
    capsys.readouterr()

    def files() -> dict[Path, bytes]:
        return {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}

    before = files()
    for out, folder in (("model", "model"), ("other", "model-train")):  # a model, and the metrics of another's training
        with pytest.raises(SystemExit):
            train(data, tmp_path / out, "store.h5", *QUICK, "seed=2", "--train-dir", str(tmp_path / "model-train"))
        (line,) = capsys.readouterr().err.splitlines()
        assert line.startswith(f"error: {tmp_path / folder}: holds a finished ") and "--force" in line
    assert files() == before
    train(data, tmp_path / "model", "store.h5", *QUICK, "seed=2", "--force")
    assert files()[tmp_path / "model/model.safetensors"] != before[tmp_path / "model/model.safetensors"]


@pytest.mark.slow
def test_ctrl_c_and_the_same_command_again_give_the_same_model(tmp_path: Path, data: Path) -> None:
    options = [*QUICK, "--set", "epochs=60", "dropout=0.1", "--checkpoint", "minutes=60", "keep=1"]
    train(data, tmp_path / "whole/model", "store.h5", *options)
    out = tmp_path / "model"
    arguments = [
        "train",
        str(data / "store.h5"),
        "--sentencepiece",
        str(data / "sp.model"),
        "--out",
        str(out),
        *options,
    ]
    code = f"from psp.cli.main import main; main({arguments!r})"
    process = subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE, text=True)
    metrics = tmp_path / "model-train/metrics.csv"
    while not (metrics.exists() and metrics.read_bytes().count(b"\n") > 1):
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    _, printed = process.communicate()
    assert process.returncode == 130
    assert printed.splitlines()[-1].startswith("error: training was stopped at step ")
    assert printed.endswith("start the same training again to go on from there\n")
    assert not out.exists()
    (checkpoint,) = (tmp_path / "model-train/checkpoints").iterdir()
    main(arguments)
    assert not checkpoint.exists()
    for name in ("model/model.safetensors", "model-train/metrics.csv", "model-train/train.json"):
        assert (tmp_path / name).read_bytes() == (tmp_path / "whole" / name).read_bytes(), name


@pytest.mark.slow
def test_the_process_that_compiles_gets_the_bytes_of_those_that_load_what_it_compiled(
    tmp_path: Path, data: Path
) -> None:
    models = []
    for name in ("compiles", "loads"):
        arguments = ["train", str(data / "store.h5"), "--sentencepiece", str(data / "sp.model")]
        arguments += ["--out", str(tmp_path / name), *QUICK, "--set", "dim=37", "dropout=0.1"]
        code = f"from psp.cli.main import main; main({arguments!r})"
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        subprocess.run([sys.executable, "-c", code], env=environment, check=True, capture_output=True)
        models.append((tmp_path / name / "model.safetensors").read_bytes())
    assert models[0] == models[1]
