"""Text without pairs through the workflow: filtered, embedded by a teacher once, and learnt from."""

import pytest

import psp
from psp.core.files import read_json

#: 240 sentences, one of them twice, and lines that are dropped.
TEXT = [
    f"{who} {verb} {number} {what} in the garden."
    for who in ("The cat", "My sister", "An old man", "A dog")
    for verb in ("sees", "finds", "paints")
    for what in ("letters", "apples", "rivers", "birds")
    for number in ("two", "three", "four", "five", "many")
]
MODEL = """
  taught:
    extends: demo
    languages: [en]
    corpora: [{text: my.txt, licence: CC0-1.0}]
    teacher: {encoder: results/demo/model, weight: 1, centres: 4, neighbours: 3, among: 6}
    subword: {vocab_size: 80}
    development: {sts: null}
    train: {epochs: 3, batch_size: 32}
    mix: {warn_pairs: 0}
"""


@pytest.mark.slow
def test_text_is_a_corpus_of_a_model_with_a_teacher(finished, tmp_path):
    workflow = finished.copy(tmp_path / "copy")
    (workflow.folder / "my.txt").write_text("\n".join([*TEXT, TEXT[0].upper(), "Short.", "", "a\tb"]) + "\n")
    workflow.add(MODEL)
    assert workflow.planned("results/demo/eval.json") == set()
    targets = ["results/taught/eval.json", "results/taught/data.json"]
    workflow.run("--", *targets)
    folder = workflow.folder / "results/taught"
    filtered = read_json(folder / "pairs/filter/my.en.json")
    assert filtered["seen"] == len(TEXT) + 4 and "ratio" not in filtered["filters"]
    assert filtered["dropped"] == {"empty": 1, "length: source too short": 1, "row: columns": 1}
    mixed = read_json(folder / "pairs/mix.json")["total"]
    assert mixed["kept"] == len(TEXT) and mixed["heldout"] == 0
    report = read_json(folder / "teacher.json")
    assert report["sentences"] == report["distinct"] == len(TEXT) and report["languages"] == ["en", "fr"]
    evaluation, data = read_json(folder / "eval.json"), read_json(folder / "data.json")
    assert evaluation["train"]["teacher"]["encoder"] == "results/demo/model"
    assert data["corpora"][0]["kind"] == "text" and data["corpora"][0]["licence"]["declared"] == "CC0-1.0"
    text = (folder / "data.md").read_text()
    assert f"{len(TEXT) + 4:,} sentences read" in text and "sentences dropped" in text
    assert psp.load_model(folder / "model").config["languages"] == ["en"]
    # The same teacher and text again: no sentence is embedded, and the bytes are the same.
    blocks = sorted((workflow.folder / "results/embeddings/teachers").rglob("*.npy"))
    times, before = [path.stat().st_mtime_ns for path in blocks], (folder / "teacher.safetensors").read_bytes()
    workflow.run("--forcerun", "teach", "--", *targets)
    assert blocks and times == [path.stat().st_mtime_ns for path in blocks]
    assert (folder / "teacher.safetensors").read_bytes() == before
