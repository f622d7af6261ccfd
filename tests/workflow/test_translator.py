"""A translator through the workflow, from a model's bitext to its folder and its scores."""

import pytest

from psp.core.files import read_json
from psp.pairs.pair_file import read_mixed
from psp.pairs.translator_heldout import read_heldout
from psp.text.keys import normalised_key
from psp.training.translator import export

ENTRY = """
translators:
  fr-en:
    languages: [fr, en]
    from: {model: demo}
    train: {steps: 60, evaluate_every: 30, vocab_size: 300, dim: 32, heads: 2, feed_forward: 64, encoder_layers: 1,
            decoder_layers: 1, threads: 1, precision: float32, heldout: {Phrasebook: 40, rest: 30}}
"""
TARGET = "results/translators/fr-en/translator.json"
#: What `tr a-z A-Z` does.
UPPER = {code: code - 32 for code in range(ord("a"), ord("z") + 1)}


#: Pairs of two translators, one of them trained, as one model's corpora.
BACK = """
translators:
  ready: {languages: [fr, en], command: "tr a-z A-Z", licence: MIT}
models:
  back:
    extends: demo
    languages: [en]
    corpora:
      - {translated: en, through: fr, from: {model: demo}, translator: fr-en, sample: 300, name: Own}
      - {translated: en, through: fr, from: [Phrasebook], translator: ready, encoder: results/demo/model, sample: 200}
    filters: {language: {enabled: false}}
    subword: {vocab_size: 150}
    development: {sts: null, heldout: 5}
    train: {epochs: 1}
    mix: {warn_pairs: 0}
"""


def back_translated(workflow):
    """Bitext as paraphrases, by a translator that was trained, and by a command."""
    (workflow.folder / "back.yaml").write_text(BACK)
    configs = {"configs": ("config/demo.yaml", "tiny.yaml", "back.yaml")}
    targets = ["results/back/eval.json", "results/back/data.json"]
    jobs = workflow.jobs("--", *targets, **configs)
    assert (jobs["filter_bitext"], jobs["backtranslate"], jobs["train"]) == (3, 2, 1) and "translator" not in jobs
    workflow.run("--notemp", "--", *targets, **configs)
    folder = workflow.folder / "results/back/pairs/backtranslate"
    bitext = [
        line.split("\t") for line in (folder / "Translated-fr.en-en/Phrasebook.fr-en.tsv").read_text().splitlines()
    ]
    lines = [line.split("\t") for line in (folder / "Translated-fr.en-en.tsv").read_text().splitlines()]
    assert len(lines) == 200 and {len(line) for line in lines} == {3}
    assert {(line[0], line[1]) for line in lines} <= {(english, text.translate(UPPER)) for text, english in bitext}
    own = [line.split("\t") for line in (folder / "Own.en-en.tsv").read_text().splitlines()]
    assert own and {len(line) for line in own} == {4} and all(float(line[3]) < 0 for line in own)
    report = read_json(folder / "Own.en-en.json")
    assert sum(one["lines"] for one in report["corpora"].values()) == 300
    data = read_json(workflow.folder / "results/back/data.json")
    assert [corpus["kind"] for corpus in data["corpora"]] == ["translated", "translated"]
    assert data["corpora"][1]["licence"]["declared"] and "MIT" in data["corpora"][1]["licence"]["declared"]
    assert (
        "a translation of the other from fr by ready (command)"
        in (workflow.folder / "results/back/data.md").read_text()
    )
    assert len(read_json(workflow.folder / "results/back/eval.json")["data"]["translated"]) == 2
    workflow.edit("back.yaml", "sample: 200}", "sample: 150}")
    assert "backtranslate" in workflow.planned("--", *targets, **configs)


@pytest.mark.slow
def test_a_models_bitext_becomes_a_translator(copy_of_finished):
    workflow = copy_of_finished
    workflow.add(ENTRY)
    assert workflow.planned("results/demo/eval.json") == set()  # its rules are the models' own, with other names
    jobs = workflow.jobs(TARGET)
    assert (jobs["filter"], jobs["dedupe"], jobs["translator"]) == (2, 2, 1)
    workflow.run("--", TARGET)
    folder = workflow.folder / "results/translators/fr-en"
    left, sets = list(read_mixed(folder / "pairs/train.tsv")), read_heldout(folder / "pairs/heldout.tsv")
    keys = {normalised_key(side) for pairs in sets.values() for pair in pairs for side in pair[:2]}
    assert not [row for row in left if {normalised_key(row[0]), normalised_key(row[1])} & keys]
    assert any(row[0] != row[0].lower() for row in left)  # its own case
    report = read_json(folder / "translator.json")
    assert report["sets"].keys() == {"Phrasebook", "rest"}
    assert report["sets"]["rest"]["corpora"].keys() == {"PhrasebookExtra"}
    assert {path.relative_to(folder / "model").as_posix() for path in (folder / "model").rglob("*.*")} == set(
        export.FILES
    )
    assert workflow.planned(TARGET) == set()
    assert not (folder / "pairs/mix.tsv").exists()
    back_translated(workflow)
    # What changes nothing of the translator makes none anew; what does, trains on the pairs that are there.
    workflow.edit("tiny.yaml", "steps: 60,", "steps: 60, log_every: 7,")
    assert workflow.planned(TARGET) == set()
    workflow.edit("tiny.yaml", "dim: 32", "dim: 48")
    assert workflow.planned(TARGET) == {"translator"}
