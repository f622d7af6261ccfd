"""Scores for others: all of them, and on the Hub those of the same protocol."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

from psp.models.hub_sets import SETS
from psp.models.scores import eval_results, model_index, scores
from psp.text import markup
from tests.conftest import as_published
from tests.models.test_card import EVALUATION, FIGURES, YEAR
from tests.short_scores import in_full

hub = pytest.importorskip("huggingface_hub")


def entries(evaluation):
    return {file: hub.parse_eval_result_entries(found) for file, found in eval_results(evaluation, "a note").items()}


def test_every_score_is_in_the_model_index():
    index = model_index("no", EVALUATION)
    name, found = importlib.import_module("huggingface_hub.repocard_data").model_index_to_eval_results(index)
    assert name == "no"
    assert [(one.metric_type, one.metric_value) for one in found] == [
        ("pearsonr", 65.04), ("spearmanr", 64.5), ("pearsonr", 65.04), ("spearmanr", 64.5), ("pearsonr", 71.25),
        ("spearmanr", 70.57), ("pearsonr", 71.25), ("spearmanr", 70.57), ("error_rate", 6.2),
    ]  # fmt: skip
    # A year's mean of Pearson's over its data sets is no score of mteb's data set.
    assert [one.dataset_type for one in found[:4]] == ["sts.2012", "mteb/sts12-sts", "sts.average", "sts.average"]
    assert found[6].dataset_type == found[7].dataset_type == "mteb/stsbenchmark-sts"
    assert found[7].dataset_revision == SETS["stsb.test"].revision and found[7].dataset_split == "test"
    assert model_index("no", {"tasks": {}}) == []


def test_the_hubs_entries_are_those_of_the_same_protocol():
    found = entries(EVALUATION)
    assert found.keys() == {".eval_results/STS12.yaml", ".eval_results/STSBenchmark.yaml"}
    (entry,) = found[".eval_results/STSBenchmark.yaml"]
    known = SETS["stsb.test"]
    assert (entry.dataset_id, entry.task_id) == ("mteb/stsbenchmark-sts", "STSBenchmark_default_test")
    assert (entry.value, entry.dataset_revision, entry.notes, entry.date) == (70.57, known.revision, "a note", None)
    # What we write is what huggingface_hub would.
    for file, made in eval_results(EVALUATION, "a note").items():
        assert hub.eval_result_entries_to_yaml(found[file]) == made


@pytest.mark.parametrize(
    "changed",
    [
        {"stsb": {"test": {**FIGURES, "pairs": 1378}}},  # a pair is missing
        {"stsb": {"dev": {**FIGURES, "pairs": 1379}}},
        {"stsb": {"test": {**FIGURES, "development": True}}},
        {"sts": {"2013": YEAR}},  # fewer pairs than mteb's
        {"semeval2017": {"track5.en-en": {**FIGURES, "pairs": 250, "development": True}}},
        {"semeval2017": {"track4b.es-en": {**FIGURES, "pairs": 250}}},
        {"files": {"stsb.test": FIGURES}},  # somebody's own set
    ],
)
def test_no_entry_without_the_same_protocol(changed):
    evaluation = as_published(in_full(changed))
    assert list(scores(evaluation)) and entries(evaluation) == {}


def test_a_track_is_a_subset():
    evaluation = as_published(in_full({"semeval2017": {"track2.ar-en": {**FIGURES, "pairs": 250}}}))
    (entry,) = entries(evaluation)[".eval_results/STS17.yaml"]
    assert entry.task_id == "STS17_en-ar_test"


def test_other_sentences_in_a_published_sets_place_are_no_entry_and_have_their_own_name():
    evaluation = EVALUATION | {"sets": dict.fromkeys(EVALUATION["sets"], "0" * 16)}
    assert entries(evaluation) == {}
    names = {(one["dataset"]["type"], one["dataset"]["name"]) for one in model_index("no", evaluation)[0]["results"]}
    assert ("own.tatoeba.nob-eng", "own set nob-eng (Norwegian Bokmål)") in names and (
        "own.sts.2012",
        "own set 2012",
    ) in names
    assert not [name for pair in names for name in pair if "Tatoeba" in name or "STS" in name or "mteb" in name]


def test_own_sets_may_have_any_name():
    odd = 'my "set" | <b>\u202e{}\n'
    evaluation = in_full({"files": {odd: FIGURES}})
    assert [score.test for score in scores(evaluation)] == [odd, odd]
    assert markup.yaml({"model-index": model_index("x", evaluation)}).isascii()


@pytest.mark.slow  # mteb is imported in 5 s
def test_the_table_is_that_of_mteb():
    mteb = pytest.importorskip("mteb")
    counts = Path(mteb.__file__).parent / "descriptive_stats/STS"
    for name, known in SETS.items():
        metadata = mteb.get_task(known.task).metadata
        assert (metadata.dataset["path"], metadata.dataset["revision"]) == (known.dataset, known.revision), name
        assert metadata.main_score == "cosine_spearman" and known.split in metadata.eval_splits
        assert known.subset in metadata.hf_subsets
        found = json.loads((counts / f"{known.task}.json").read_text())[known.split]
        found = found.get("hf_subset_descriptive_stats", {known.subset: found})[known.subset]
        assert found["num_samples"] == known.pairs
    # All subsets of the tracks that we have, but the one that models are chosen by.
    ours = {"ar", "en", "es", "tr"}
    subsets = {name for name in mteb.get_task("STS17").metadata.hf_subsets if set(name.split("-")) <= ours}
    assert {known.subset for known in SETS.values() if known.task == "STS17"} == subsets - {"en-en"}
