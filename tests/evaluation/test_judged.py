"""Sets of scored pairs by which models are chosen."""

from pathlib import Path

import pytest

from psp.config.config import Config
from psp.core.errors import ConfigError, DataError
from psp.evaluation import judged
from psp.evaluation.development_pairs import clear
from psp.evaluation.judged import metric
from psp.evaluation.metrics import OF_PAIRS
from psp.evaluation.scored import scored
from psp.evaluation.tasks import Task, choosing, names
from psp.evaluation.testsets import read_file, tatoeba_files
from psp.text.keys import normalised_key

ROOT = Path(__file__).parents[2]

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n1\tA cat\tA dog\t{}\tNEUTRAL\n"


@pytest.fixture
def two(tmp_path):
    for name, score in (("train", 3.5), ("trial", 2)):
        (tmp_path / f"{name}.txt").write_text(SICK.format(score))
    return [str(tmp_path / "train.txt"), str(tmp_path / "trial.txt")]


def entry(path, **own):
    return {"task": "similarity", "layout": "sick", "language": "en", "path": path, **own}


def test_several_files_are_one_set(two):
    data = judged.read(entry(two, weight=2), "development.sets.sick")
    assert (data.name, data.a, data.b, list(data.gold)) == ("sick", ["A cat"] * 2, ["A dog"] * 2, [3.5, 2.0])
    assert [str(path) for path in judged.files(entry(two), "sets.sick")] == two


def test_labels_are_scores_too(tmp_path):
    (tmp_path / "labels.tsv").write_text("1\ta\tb\n0\tc\td\n")
    own = {"task": "pair_classification", "language": "en", "path": str(tmp_path / "labels.tsv")}
    assert list(judged.read(own, "sets.own").gold) == [1.0, 0.0]


def test_a_wrong_entry_is_named(two):
    with pytest.raises(ConfigError, match=r"development\.sets\.sick\.layuot is not a key"):
        judged.read(entry(two, layuot="sick"), "development.sets.sick")
    with pytest.raises(ConfigError, match=r"sets\.sick\.path: an empty list"):
        judged.files(entry([]), "sets.sick")
    with pytest.raises(DataError, match=r"nowhere\.txt"):
        judged.read(entry([*two, "nowhere.txt"]), "sets.sick")


def test_their_sentences_are_kept_out_of_training(two):
    found = list(scored({"languages": ["en"], "judged": {"sick": entry(two)}}))
    assert found == [("development/sick", "A cat", "A dog")] * 2


@pytest.mark.parametrize("kind", names())
def test_what_models_can_be_chosen_by_has_scored_pairs_and_a_metric_of_them(kind):
    task = Task.classes[kind]
    assert ("judged" in vars(task)) == (kind in choosing())
    if kind in choosing():
        assert {metric({"task": kind})} <= OF_PAIRS.keys() & task.metrics.keys()


def test_the_sets_of_the_config_are_there_and_hold_no_tested_sentence_once_cleared(psp_data, tmp_path):
    config = Config.load([ROOT / f"config/{name}.yaml" for name in ("config", "sample", "choosing")])
    sizes = {}
    tests = {"languages": ["en", "pl"], "sts": psp_data / "eval/sts", "tatoeba": {"pl": tatoeba_files(
        psp_data / "eval/tatoeba/v1", "pl")}}  # fmt: skip
    chosen = [one for one in scored(tests) if one[0] != "SemEval-2017 track5.en-en"]
    known = {normalised_key(text) for _, *pair in chosen for text in pair} - {""}
    for name, entry in config.model("pl")["development"]["sets"].items():
        data = judged.read(entry, f"development.sets.{name}")
        report = clear(data, chosen, tmp_path / "out.tsv", tmp_path / "out.json")
        sizes[name] = (report["pairs"], report["kept"])
        left = read_file(tmp_path / "out.tsv")
        assert not known & set(map(normalised_key, [*left.a, *left.b]))
    assert sizes["sick"] == (5000, 3880) and sizes["mrpc"] == (4076, 3167)
    assert {name: pairs for name, (pairs, _) in sizes.items()} == {
        "sick": 5000, "mrpc": 4076, "cdsc-r": 9000, "sick-pl": 4934, "ppc": 6000
    }  # fmt: skip
    assert list(config.model("fr")["development"]["sets"]) == ["sick", "mrpc"]
