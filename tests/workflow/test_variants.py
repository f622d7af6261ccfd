"""Variants of a training and their seeds through Snakemake: each as if trained by hand, all gathered in one file."""

import re
import statistics

import pytest

from psp.core.errors import DataError
from psp.core.files import read_json
from psp.evaluation.variants import gather
from psp.models.scores import compared_metrics
from psp.training.loop import Training

VARIANTS = "results/demo/variants.json"


def planned_trainings(workflow):
    """The trainings that a run would make, the model's own among them."""
    output = workflow.run("--dry-run", "--", VARIANTS).output
    return sorted(set(re.findall(r"Training demo(?: as (\S+), seed (\d+)|)$", output, re.MULTILINE)))


@pytest.fixture(scope="module")
def varied(finished, once):
    """The finished demo, and one variant beside its own settings, two seeds each, models kept. Not to be changed."""

    def vary(folder):
        workflow = finished.copy(folder)
        workflow.add("    seeds: [1, 2]\n    variants:\n      plain: {init: normal, epochs: 1}\n")
        assert planned_trainings(workflow) == [("plain", "1"), ("plain", "2"), ("psp", "2")]  # the model is psp, 1
        workflow.run("--notemp", "--", VARIANTS)

    return once("varied", vary)


@pytest.fixture
def copy_of_varied(varied, tmp_path):
    return varied.copy(tmp_path / "copy")


@pytest.mark.slow
def test_figures_of_all_seeds_stand_together_with_mean_and_deviation(varied):
    folder = varied.folder / "results/demo"
    result = read_json(folder / "variants.json")
    assert [(one["name"], one["recipe"], one["seeds"]) for one in result["variants"]] == [
        ("psp", "psp", [1, 2]), ("plain", "psp", [1, 2]),
    ]  # fmt: skip
    assert [one["settings"] for one in result["variants"]] == [{}, {"epochs": 1, "init": "normal"}]
    places = {"psp": [folder, folder / "variants/psp/2"]}
    places["plain"] = [folder / "variants/plain" / seed for seed in "12"]
    for one in result["variants"]:
        bodies = [read_json(place / "eval.json") for place in places[one["name"]]]
        assert [body["train"]["settings"]["seed"] for body in bodies] == [1, 2]
        assert one["threads"] == [body["train"]["threads"] for body in bodies]
        for place, body in zip(places[one["name"]], bodies, strict=True):
            assert body["train"] == read_json(place / "train/train.json")
            assert body["conditions"]["seed"] == 1  # the same resamples for all
        expected = {
            **{
                name: [compared_metrics(body)[name] for body in bodies]
                for name in ("files/phrasebook", "tatoeba/fra-eng", "tatoeba")
            },
            "development/score": [body["train"]["final"]["score"] for body in bodies],
            "development/pearson": [body["train"]["best"]["pearson"] for body in bodies],
            "development/error": [body["train"]["final"]["retrieval"]["error"] for body in bodies],
            "pairs_seen": [body["train"]["pairs_seen"] for body in bodies],
        }
        for name, values in expected.items():
            found = one["figures"][name]
            assert found["values"] == pytest.approx(values), name
            assert found["mean"] == pytest.approx(statistics.mean(values), abs=1e-4), name
            assert found["deviation"] == pytest.approx(statistics.stdev(values), abs=1e-4), name
        assert len(set(one["figures"]["development/score"]["values"])) == 2  # seeds make a difference
        for place, seconds, rate in zip(
            places[one["name"]],
            one["figures"]["seconds"]["values"],
            one["figures"]["pairs_per_second"]["values"],
            strict=True,
        ):
            rows = [line.split(",") for line in (place / "train/timing.csv").read_text().splitlines()[1:]]
            assert seconds == pytest.approx(float(rows[-1][2]), abs=1e-3)
            assert min(float(row[3]) for row in rows) <= rate * 1.001
            assert rate <= 1.001 * max(float(row[3]) for row in rows)
    assert list(result["systems"]) == ["untrained", "untrained+sif", "word-overlap"]
    for name, one in result["systems"].items():
        assert one["figures"] == compared_metrics(read_json(folder / f"systems/{name}/eval.json"))
    own, plain = result["variants"]
    assert own["differences"] == {}
    lost, figure = plain["differences"]["files/phrasebook"], "files/phrasebook"
    assert lost["difference"] == pytest.approx(
        plain["figures"][figure]["mean"] - own["figures"][figure]["mean"], abs=2e-4
    )
    assert lost["interval"][0] <= lost["difference"] <= lost["interval"][1]
    assert result["machine"]["versions"]["torch"]


@pytest.mark.slow
def test_a_seed_is_the_training_that_one_gets_by_hand(varied, tmp_path):
    folder = varied.folder / "results/demo"
    report = read_json(folder / "variants/plain/2/train/train.json")
    used, threads = report["settings"], report["threads"]
    assert (used["init"], used["epochs"], used["dim"], used["seed"]) == ("normal", 1, 16, 2)
    Training(
        folder / "store.h5", folder / "sentencepiece.model", tmp_path / "by-hand", tmp_path / "by-hand-train",
        used, None, threads=threads, model_config={"languages": ["en", "fr"], "lower_case": True, "segment": {}},
        warn_pairs=0,
    ).run()  # fmt: skip
    ours, theirs = folder / "variants/plain/2", tmp_path / "by-hand"
    assert (ours / "train/metrics.csv").read_bytes() == (tmp_path / "by-hand-train/metrics.csv").read_bytes()
    assert (ours / "model/model.safetensors").read_bytes() == (theirs / "model.safetensors").read_bytes()


@pytest.mark.slow
def test_nothing_is_trained_again_but_what_has_changed(copy_of_varied):
    assert copy_of_varied.planned(VARIANTS) == set()
    copy_of_varied.edit("tiny.yaml", "anneal: 4}", "anneal: 4, threads: 1, log_every: 7}")
    assert planned_trainings(copy_of_varied) == []
    copy_of_varied.edit("tiny.yaml", "epochs: 1}", "epochs: 1, dropout: 0.1}")
    assert planned_trainings(copy_of_varied) == [("plain", "1"), ("plain", "2")]
    copy_of_varied.edit("tiny.yaml", "dim: 16", "dim: 24")
    assert planned_trainings(copy_of_varied) == [("", ""), ("plain", "1"), ("plain", "2"), ("psp", "2")]


@pytest.mark.slow
def test_another_variant_is_trained_alone_and_its_model_is_not_kept(copy_of_varied):
    copy_of_varied.edit("tiny.yaml", "    variants:\n", "    variants:\n      once: {epochs: 1, seeds: [3]}\n")
    assert planned_trainings(copy_of_varied) == [("once", "3")]
    copy_of_varied.run(VARIANTS)
    folder = copy_of_varied.folder / "results/demo"
    names = [one["name"] for one in read_json(folder / "variants.json")["variants"]]
    assert names == ["psp", "once", "plain"]
    once = folder / "variants/once/3"
    assert not (once / "model").exists()
    assert {path.name for path in (once / "train").iterdir()} >= {"metrics.csv", "timing.csv", "train.json"}
    assert copy_of_varied.planned(VARIANTS) == set()


@pytest.mark.slow
def test_a_training_of_another_seed_is_refused(varied, tmp_path):
    folder = varied.folder / "results/demo"
    runs = {"psp": {1: folder}, "plain": {1: folder / "variants/plain/2"}}
    with pytest.raises(DataError, match=r"plain/2/eval\.json: was trained with seed 2, not 1; delete it"):
        gather(runs, {}, tmp_path / "variants.json", model="demo")
    assert not (tmp_path / "variants.json").exists()
