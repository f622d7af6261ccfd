"""Pairs mined from bitext through the workflow, from the filtered bitext to a report of what was trained on."""

import pytest

import psp
from psp.core.files import read_json

#: Each of 40 rooms is said in three ways, under one French sentence.
ROWS = [
    (english.format(number, colour), f"La pièce {number} est {colour}, dit-elle.")
    for number in range(40)
    for colour in ("rouge", "verte")
    for english in ("She says that room {} is {}.", "Room {} happens to be {}, says she", "It is said: room {}, {}!")
]
MODEL = """
  mined:
    languages: [en]
    corpora:
      - mined: en
        through: fr
        from:
          - {path: rooms.tsv, languages: [en, fr], licence: CC0-1.0}
          - {path: again.tsv, languages: [en, fr], licence: MIT}
    subword: {vocab_size: 150}
    development: {sts: null, heldout: 5}
    train: {epochs: 1, dim: 16}
    mix: {warn_pairs: 0}
    evaluate: {sts: false, tatoeba: false}
"""


@pytest.mark.slow
def test_mined_pairs_are_a_corpus_like_any_other(finished, tmp_path):
    workflow = finished.copy(tmp_path / "copy")
    for name, rows in (("rooms", ROWS[:200]), ("again", ROWS[180:])):
        (workflow.folder / f"{name}.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in rows), encoding="utf-8")
    workflow.add(MODEL)
    assert workflow.planned("results/demo/eval.json") == set()
    targets = ["results/mined/eval.json", "results/mined/data.json"]
    jobs = workflow.jobs("--", *targets)
    assert (jobs["filter_bitext"], jobs["pivot"], jobs["filter"], jobs["train"]) == (2, 1, 1, 1)
    workflow.run("--notemp", "--", *targets)
    evaluation = read_json(workflow.folder / "results/mined/eval.json")  # as of a language without published sets
    assert evaluation["tasks"] == {} and len(evaluation["data"]["dedupe"]) == 1
    folder = workflow.folder / "results/mined/pairs"
    name = "Mined-fr.en-en"
    report = read_json(folder / f"pivot/{name}.json")
    assert report["read"] == {"again.en-fr": 60, "rooms.en-fr": 200}
    assert (report["keys"], report["groups"], report["sentences"], report["pairs"]) == (80, 80, 240, 160)
    filtered = read_json(folder / f"filter/{name}.json")
    assert filtered["seen"] == 160 and filtered["filters"]["numbers"]["enabled"]
    data = read_json(workflow.folder / "results/mined/data.json")
    (corpus,) = data["corpora"]
    assert corpus["kind"] == "mined" and corpus["mined"]["pairs"] == 160
    assert corpus["licence"]["declared"] == "CC0-1.0 AND MIT"
    assert "Mined through fr: 260 pairs of bitext" in (workflow.folder / "results/mined/data.md").read_text()
    assert psp.load_model(workflow.folder / "results/mined/model").config["languages"] == ["en"]
    workflow.edit("tiny.yaml", "through: fr\n", "through: fr\n        pairs: all\n")
    assert {"pivot", "filter", "train"} <= workflow.planned("--", *targets)
