"""Models of words and of trigrams through the whole workflow, beside the demo's of subwords."""

import hashlib
import json

import numpy as np
import pytest

import psp
from psp.cli.main import main
from psp.core.files import read_json
from psp.models.scores import compared_metrics
from psp.models.static import StaticModel
from psp.pairs.store import Store
from psp.text.tokenizer_kinds import as_tokenizer
from psp.training.piece_vectors import read_piece_vectors

KINDS = ("word", "trigram")
MODELS = "".join(
    f"""
  {kind}s:
    extends: demo
    encoder: {kind}
    compare: {{systems: [untrained, untrained+sif, word-overlap]}}
    seeds: [1]
    variants: {{plain: {{init: normal, epochs: 1}}}}
    evaluate: {{tasks: {{dev: {{task: similarity, path: results/phrasebook/sts/phrasebook-dev.tsv}}}}}}
"""
    for kind in KINDS
)
#: An LSTM that starts from word vectors of its user.
VECTORS = "".join(
    f"{word} {' '.join(str((place * 7 + n) % 5 - 2) for n in range(16))}\n"
    for place, word in enumerate(["the", "red", "house", "is", "la", "maison", "rouge", "nowhere"])
)
BLSTM = f"""
vectors: {{small: {{mirrors: [vectors.txt], sha256: {hashlib.sha256(VECTORS.encode()).hexdigest()}}}}}
models:
  blstms:
    extends: demo
    encoder: blstm
    lstm: {{width: 12, combine: concat}}
    train: {{epochs: 1, init_vectors: small}}
    compare: {{systems: [untrained]}}
    seeds: [1]
    variants: {{plain: {{init: normal}}}}
"""
each = pytest.mark.parametrize("kind", KINDS)


def model_dim(folder):
    return psp.load_model(folder / "model").dim


def targets(kind):
    names = ("eval.json", "data.json", "card.md", "compare.json", "quantized.json", "variants.json")
    tasks = ("tasks/dev.json", "systems/untrained/tasks/dev.json")
    return [f"results/{kind}s/{name}" for name in (*names, *tasks)]


@pytest.fixture(scope="module")
def made(finished, once):
    """The finished demo, and models of words and of trigrams from the same pairs. Not to be changed."""

    def make(folder):
        workflow = finished.copy(folder)
        workflow.add(MODELS)
        assert workflow.planned("results/demo/eval.json") == set()  # models beside it change nothing of the demo
        for kind in KINDS:
            planned = workflow.planned("--", *targets(kind))
            assert {"vocabulary", "store", "train_vocabulary", "train_vocabulary_variant", "evaluate"} <= planned
            assert not planned & {"subword", "train", "train_variant"}
        workflow.run("--notemp", "--", *targets("word"), *targets("trigram"))

    return once("encoders", make)


@pytest.mark.slow
@each
def test_it_is_trained_evaluated_described_and_loaded(kind, made, capsys):
    folder = made.folder / f"results/{kind}s"
    report = read_json(folder / "vocabulary.json")
    tokenizer = as_tokenizer(folder / "vocabulary.txt")
    assert report["kind"] == tokenizer.kind == kind and report["entries"] == len(tokenizer) - 1
    with Store(folder / "store.h5") as store:
        assert store.attributes["tokenizer"] == kind and store.vocabulary_sha256 == tokenizer.sha256()
    assert sorted(path.name for path in (folder / "model").iterdir()) == [
        "README.md", "config.json", "model.safetensors", "vocabulary.txt"
    ]  # fmt: skip
    config = read_json(folder / "model/config.json")
    assert config["format"] == 1 and config["tokenizer"]["kind"] == kind and config["encoder"] == {"kind": "mean"}
    assert all((made.folder / name).is_file() for name in targets(kind))
    evaluation = read_json(folder / "eval.json")
    assert evaluation["vocabulary"] == report and "subword" not in evaluation
    assert evaluation["differences"]["encoder"] == kind
    assert evaluation["train"]["settings"]["init_spelling"] == (0.9 if kind == "word" else 0)
    assert not [key for key in evaluation["differences"] if key.startswith(("subword", "train.init_spelling"))]
    assert compared_metrics(evaluation)["files/phrasebook"] > 10
    systems = read_json(folder / "compare.json")["systems"]
    assert {"untrained", "untrained+sif", "word-overlap"} <= set(systems)

    model = psp.load_model(folder / "model")
    texts = ["The red car is near the house.", "la voiture rouge", "☃", ""]
    for other in (psp.load_model(folder / "model", accelerate=True), psp.load_model(folder / "model", threads=2)):
        assert np.array_equal(model.embed_raw_text(texts), other.embed_raw_text(texts))
    assert not model.embed_raw_text(texts)[3].any()

    card = (folder / "card.md").read_text(encoding="utf-8")
    assert f"the mean of the vectors of its {'words' if kind == 'word' else 'character trigrams'}" in card
    assert f"\n- {kind}\n" in card and "- sentencepiece\n" not in card and "pieces" not in card
    assert f"Length is in {kind}s of the model's vocabulary" in (folder / "data.md").read_text(encoding="utf-8")
    main(["info", str(folder / "model"), "--json"])
    facts = json.loads(capsys.readouterr().out)
    assert facts["tokenizer"] == kind
    assert facts["accelerator"]["obstacle"] is None


@pytest.mark.slow
def test_an_lstm_is_trained_evaluated_and_loaded(finished, tmp_path):
    workflow = finished.copy(tmp_path / "copy")
    (workflow.folder / "vectors.txt").write_text(VECTORS)
    (workflow.folder / "lstm.yaml").write_text(BLSTM)
    configs = ("config/demo.yaml", "tiny.yaml", "lstm.yaml")
    names = ("eval.json", "card.md", "compare.json", "quantized.json", "variants.json", "data.json")
    workflow.run("--notemp", "--", *(f"results/blstms/{name}" for name in names), configs=configs)
    folder = workflow.folder / "results/blstms"
    assert all((folder / name).is_file() for name in names)
    evaluation = read_json(folder / "eval.json")
    own = {"width": 12, "combine": "concat", "pooling": "mean", "scramble": 0.3, "learning_rate": 0.003, "clip": 1}
    own["precision"] = "float32"
    assert evaluation["train"]["encoder"] == {"kind": "blstm", **own}
    assert 0 < evaluation["train"]["initialised_from"]["taken_over"] < 8  # all but the word that no text has
    assert compared_metrics(evaluation)["files/phrasebook"] > 10
    assert {table["dim"] for table in read_json(folder / "quantized.json")["smaller"]} == {24}
    model = psp.load_model(folder / "model")
    assert (model.dim, model.contextual.kind) == (24, "blstm")
    workflow.edit("lstm.yaml", "combine: concat", "combine: average")
    assert "train_vocabulary" in workflow.planned("--", "results/blstms/eval.json", configs=configs)


@pytest.mark.slow
def test_a_combination_is_made_of_trained_models(made, tmp_path, capsys):
    workflow = made.copy(tmp_path / "copy")
    workflow.add("\n  both: {encoder: {concat: [demo, trigrams], weights: [1, 0.5]}}\n")
    workflow.add("speed: {sentences: 100, repeats: 3, peers: []}\n")
    names = ("eval.json", "compare.json", "quantized.json", "speed.json")
    targets = [f"results/both/{name}" for name in (*names, "card.md")]
    jobs = workflow.jobs("--", *targets)
    made_of = {"combine": 1, "task": 2, "evaluate_combined": 1, "system": 1, "compare": 1, "quantize": 1}
    assert jobs == {**made_of, "speed": 1, "card": 1}  # what they are made of is there
    workflow.run("--", *targets)
    folder = workflow.folder / "results/both"
    assert all((folder / name).is_file() for name in names)
    assert sorted(path.name for path in (folder / "model").iterdir()) == [
        "0.sentencepiece.model", "1.vocabulary.txt", "README.md", "config.json", "model.safetensors"
    ]  # fmt: skip
    model = psp.load_model(folder / "model")
    parts = [psp.load_model(workflow.folder / f"results/{name}/model") for name in ("demo", "trigrams")]
    pair = [("The red car is near the house.", "The house is red.")]
    (whole,), *scores = (one.score_raw_text(pair) for one in (model, *parts))
    assert whole == pytest.approx((scores[0][0] + 0.5 * scores[1][0]) / 1.5, abs=1e-6)

    card = (folder / "card.md").read_text(encoding="utf-8")
    assert (folder / "model/README.md").read_text(encoding="utf-8") == card
    assert "| test | figure | both | demo | trigrams |" in card
    assert "All its parts were trained on the same." in card and "Together: MIT." in card
    speed = read_json(folder / "speed.json")
    assert speed["model"] == "both" and speed["conditions"]["dim"] == model_dim(folder) == speed["systems"][0]["dim"]
    assert "pairs of its training data: Phrasebook" in speed["source"]

    evaluation = read_json(folder / "eval.json")
    assert [(part["model"], part["weight"]) for part in evaluation["parts"]] == [("demo", 1), ("trigrams", 0.5)]
    own = compared_metrics(read_json(workflow.folder / "results/trigrams/eval.json"))["files/phrasebook"]
    assert evaluation["parts"][1]["scores"]["files/phrasebook"] == own
    task = "    evaluate: {tasks: {dev: {task: similarity, path: results/phrasebook/sts/phrasebook-dev.tsv}}}\n"
    workflow.edit("tiny.yaml", "both: {", "both:\n" + task + "    encoder: {")
    workflow.edit(
        "tiny.yaml",
        "encoder: {encoder: {concat: [demo, trigrams], weights: [1, 0.5]}}",
        "encoder: {concat: [demo, trigrams], weights: [1, 0.5]}",
    )
    scores = ["results/both/tasks/dev.json", "results/both/systems/word-overlap/tasks/dev.json"]
    assert workflow.jobs("--", *scores) == {"added_task": 1, "system_task": 1}
    workflow.run("--", *scores)
    main(["show", str(folder), "--all"])
    shown = capsys.readouterr().out
    assert "trigrams - both" in shown and "paired bootstrap" in shown

    refused = workflow.run("--dry-run", "--", "results/both/store.h5", check=False)
    assert refused.returncode != 0
    assert (
        "both joins demo and trigrams, and has only model/, eval.json, tasks/, compare.json, quantized.json, "
        "speed.json, card.md and report.html; ask" in refused.output
    )
    workflow.edit("tiny.yaml", "weights: [1, 0.5]", "weights: [1, 1]")
    assert {"combine", "evaluate_combined"} <= workflow.planned("--", "results/both/eval.json")


@pytest.mark.slow
def test_encoders_are_trained_together(made, tmp_path):
    workflow = made.copy(tmp_path / "copy")
    workflow.add("\n  joint: {encoder: {concat: [demo, trigrams], joint: true}, train: {epochs: 1}}\n")
    workflow.add("  sum: {encoder: {add: [words, trigrams], joint: true}, train: {epochs: 1}}\n")
    names = ("eval.json", "compare.json", "quantized.json")
    targets = [f"results/{name}/{file}" for name in ("joint", "sum") for file in names]
    targets += ["results/joint/data.json", "results/joint/card.md", "results/sum/card.md"]
    jobs = workflow.jobs("--", *targets)
    together = {"train_joint": 2, "store": 2, "evaluate_combined": 2, "data": 2, "card": 2}
    assert jobs.items() >= {**together, "system": 2, "compare": 2, "quantize": 2, "mix": 2}.items()
    assert not jobs.keys() & {"train", "train_vocabulary", "subword", "vocabulary", "evaluate"}  # those are made
    workflow.run("--notemp", "--", *targets)
    for name, dim in (("joint", 32), ("sum", 16)):
        folder = workflow.folder / f"results/{name}"
        assert all((folder / file).is_file() for file in names)
        evaluation = read_json(folder / "eval.json")
        assert compared_metrics(evaluation)["files/phrasebook"] > 10
        assert [part["weight"] for part in evaluation["parts"]] == [1, 1]
        assert psp.load_model(folder / "model").dim == dim
    with Store(workflow.folder / "results/joint/store.h5") as store:
        assert store.attributes["tokenizer"] == "parts"
        assert len(store) == read_json(workflow.folder / "results/demo/train/train.json")["store_pairs"]
    workflow.edit("tiny.yaml", "add: [words, trigrams]", "concat: [words, trigrams]")
    assert workflow.jobs("--", "results/sum/eval.json", "results/joint/eval.json")["train_joint"] == 1


@pytest.mark.slow
def test_another_run_gives_the_same_bytes_and_one_model_starts_from_another(made, tmp_path):
    workflow = made.copy(tmp_path / "copy")
    names = ["vocabulary.txt", "vocabulary.json", "store.h5", "model/model.safetensors", "model/config.json"]
    for kind in KINDS:
        before = {name: (workflow.folder / f"results/{kind}s" / name).read_bytes() for name in names}
        workflow.run("--forcerun", "vocabulary", "store", "train_vocabulary", "--", f"results/{kind}s/eval.json")
        for name in names:
            assert (workflow.folder / f"results/{kind}s" / name).read_bytes() == before[name], name
    workflow.edit("tiny.yaml", "encoder: trigram\n", "encoder: trigram\n    train: {init_from: results/words/model}\n")
    assert workflow.jobs("--", "results/trigrams/train/train.json") == {"train_vocabulary": 1}
    (workflow.folder / "results/words/model/model.safetensors").unlink()
    assert workflow.jobs("--", "results/trigrams/train/train.json") == {"train_vocabulary": 2}


@pytest.mark.slow
def test_a_model_starts_from_another_encoders_vectors_of_its_pieces(copy_of_finished):
    project = copy_of_finished
    (project.folder / "started.yaml").write_text(
        "models:\n"
        "  started: {extends: demo, subword: {vocab_size: 300}, train: {epochs: 1, init_encoder: results/demo/model}}\n"
    )
    configs = ("config/demo.yaml", "tiny.yaml", "started.yaml")
    target = "results/started/train/train.json"
    assert {"piece_vectors", "train"} <= project.planned("--", target, configs=configs)
    project.run("--", target, configs=configs)
    tokenizer = as_tokenizer(project.folder / "results/started/sentencepiece.model")
    rows, vectors = read_piece_vectors(project.folder / "results/started/piece_vectors.safetensors", tokenizer.pieces())
    encoder = StaticModel.load(project.folder / "results/demo/model")
    texts = [tokenizer.pieces()[row].replace("\u2581", " ").strip() for row in rows]
    assert np.allclose(vectors, encoder.embed_raw_text(texts), atol=1e-5)
