"""Transformers through the whole workflow, on the demo's text."""

import numpy as np
import pytest

import psp
from psp.core.files import read_json
from psp.models.registry import load_encoder
from psp.pairs.pair_file import read_mixed
from tests.training.transformer.conftest import make_base

#: It reads the demo's pairs in their own case, and learns as fast as so small a one can.
MODEL = """
models:
  tiny:
    languages: [en, fr]
    corpora: [PhrasebookExtra]
    encoder: {kind: transformer, base: base}
    transformer: {epochs: 2, batch_size: 32, learning_rate: 0.003, max_length: 40, checkpoint_steps: 20, threads: 1}
    development: {sts: results/phrasebook/sts/phrasebook-dev.tsv, heldout: 50}
    evaluate:
      sts: false
      resamples: 100
      files: {phrasebook: results/phrasebook/sts/phrasebook-test.tsv}
      tasks: {dev: {task: similarity, path: results/phrasebook/sts/phrasebook-dev.tsv}}
    compare: {systems: [word-overlap]}
    seeds: [1]
    variants: {lstm: {transformer: {pooling: lstm, dim: 24, epochs: 1}}}
"""
CONFIGS = ("config/demo.yaml", "tiny.yaml", "contextual.yaml")
REPORTS = ("eval.json", "data.json", "compare.json", "variants.json", "tasks/dev.json")


@pytest.fixture
def workflow(finished, tmp_path):
    pytest.importorskip("sentence_transformers", reason="not installed (pip install 'paraphrastic[transformer]')")
    pytest.importorskip("datasets", reason="not installed (pip install 'paraphrastic[transformer]')")
    workflow = finished.copy(tmp_path / "copy")
    (workflow.folder / "contextual.yaml").write_text(MODEL)
    truth = workflow.folder / "results/phrasebook/sts/phrasebook-dev.tsv"
    sentences = [side for line in truth.read_text(encoding="utf-8").splitlines() for side in line.split("\t")[1:]]
    make_base(workflow.folder / "base", sentences=sentences)
    return workflow


@pytest.mark.slow
def test_a_transformer_is_trained_evaluated_and_loaded(workflow, monkeypatch):
    assert workflow.planned("--", "results/demo/eval.json", configs=CONFIGS) == set()
    targets = [f"results/tiny/{name}" for name in (*REPORTS, "card.md")]
    jobs = workflow.jobs("--", *targets, configs=CONFIGS)
    assert jobs["mix_text"] == jobs["train_transformer"] == jobs["train_transformer_variant"] == 1
    assert not jobs.keys() & {"mix", "subword", "vocabulary", "store", "train"}
    workflow.run("--", *targets, configs=CONFIGS)
    folder = workflow.folder / "results/tiny"
    assert all((folder / name).is_file() for name in REPORTS)

    pairs = list(read_mixed(folder / "pairs/mix.tsv"))
    assert any(source != source.lower() for source, _, _ in pairs)
    report, evaluation = read_json(folder / "train/train.json"), read_json(folder / "eval.json")
    assert report["pairs"] == len(pairs) and report["base"] == "base" and report["threads"] == 1
    after = report["development"]["after"]
    assert after[-1]["score"] > report["development"]["before"]["score"] and len(after) == 2
    assert evaluation["train"] == report and evaluation["recipe"] == "psp"
    assert evaluation["differences"]["transformer.epochs"] == 2 and "subword" not in evaluation
    data = read_json(folder / "data.json")
    words = sum(len(source.split()) for source, _, _ in pairs)
    assert (data["tokenizer"], data["total"]["pieces"]["source"]) == ("whitespace", words)
    assert "Length is in words between white space" in (folder / "data.md").read_text(encoding="utf-8")
    lstm = read_json(folder / "variants.json")["variants"][1]
    assert lstm["settings"] == {"pooling": "lstm", "dim": 24, "epochs": 1}
    assert lstm["figures"]["pairs_seen"]["mean"] == len(pairs)
    assert "made of the states of a transformer, by mean pooling: 32 dimensions" in (folder / "card.md").read_text()
    task = read_json(folder / "tasks/dev.json")
    assert task["parts"] and task["overlap"]["in_training"] == 0  # they are kept out

    monkeypatch.chdir(workflow.folder)
    texts = ["The red car is near the house.", "la voiture rouge"]
    found = psp.load_model("results/tiny/model").embed_raw_text(texts)
    np.testing.assert_allclose(load_encoder("results/tiny/model").embed(texts), found, atol=1e-6)
    assert workflow.planned("--", *targets, configs=CONFIGS) == set()
    before = (folder / "model/0_Transformer/model.safetensors").read_bytes()
    workflow.run("--forcerun", "train_transformer", "--", "results/tiny/model/config.json", configs=CONFIGS)
    assert (folder / "model/0_Transformer/model.safetensors").read_bytes() == before
    with (workflow.folder / "base/vocab.txt").open("a") as file:
        file.write("another\n")
    assert "train_transformer" in workflow.planned("--", "results/tiny/eval.json", configs=CONFIGS)


@pytest.mark.slow
def test_a_transformer_learns_from_a_model_that_knows_one_of_its_languages(workflow):
    teacher = "    teacher: {encoder: results/demo/model, languages: [en]}\n"
    workflow.edit("contextual.yaml", "    development: {sts", teacher + "    development: {sts")
    workflow.edit("contextual.yaml", "threads: 1}", "threads: 1, log_every: 5}")
    jobs = workflow.jobs("--", "results/tiny/eval.json", configs=CONFIGS)
    assert jobs["teach"] == jobs["train_transformer"] == 1
    workflow.run("--", "results/tiny/eval.json", configs=CONFIGS)
    evaluation = read_json(workflow.folder / "results/tiny/eval.json")
    about = evaluation["train"]["teacher"]
    assert about["encoder"] == "results/demo/model" and about["untaught"] == 0
    # So small a transformer learns the vectors, if not what they are good for; the trainer's own tests look further.
    rows = (workflow.folder / "results/tiny/train/metrics.csv").read_text().splitlines()[1:]
    losses = [float(row.split(",")[2]) for row in rows if row.split(",")[2]]
    assert len(losses) > 5 and sum(losses[-3:]) / 3 < 0.9 * losses[0], losses
