"""A grid of settings through Snakemake: short trainings for its points, and a model trained as the best of them was."""

import json
import re

import pytest

from psp.core.files import read_json

EVAL, VARIANTS = "results/demo/eval.json", "results/demo/variants.json"
GRID = {"dropout": [0, 0.1], "megabatch": [2, 4], "epochs": [1], "anneal": [3]}
NAMES = ["dropout=0+megabatch=2", "dropout=0+megabatch=4", "dropout=0.1+megabatch=2", "dropout=0.1+megabatch=4"]
TRAINING = {"train_variant", "train", "task", "evaluate"}


def planned_points(workflow, target=EVAL):
    """The points that a run would train."""
    return sorted(
        re.findall(r"Training demo as (\S+=\S+), seed 1$", workflow.run("--dry-run", "--", target).output, re.MULTILINE)
    )


@pytest.fixture(scope="module")
def searched(finished, once):
    """The finished demo, then trained again by the best point of a grid. Not to be changed."""

    def search(folder):
        workflow = finished.copy(folder)
        # Sizes of mega-batches are searched where negatives are mined from them.
        margin = "anneal: 4, objective: margin, batch_size: 128, learning_rate: 0.001, settings_from: variants}"
        text = (folder / "tiny.yaml").read_text().replace("anneal: 4}", margin)
        (folder / "tiny.yaml").write_text(f"{text}    seeds: [1]\n    variants: {{grid: {json.dumps(GRID)}}}\n")
        assert workflow.jobs(EVAL)["train_variant"] == 4 and workflow.planned(EVAL) == TRAINING
        workflow.run(EVAL)

    return once("searched", search)


@pytest.fixture
def copy_of_searched(searched, tmp_path):
    return searched.copy(tmp_path / "copy")


@pytest.mark.slow
def test_the_model_is_trained_with_the_best_points_values_and_says_so(copy_of_searched):
    workflow, folder = copy_of_searched, copy_of_searched.folder / "results/demo"
    assert workflow.planned(EVAL) == set()
    workflow.run(VARIANTS)  # which trains nothing again
    found = read_json(folder / "variants.json")["grid"]
    assert [point["name"] for point in found["points"]] == NAMES
    for point in found["points"]:
        home = folder / "variants" / point["name"] / "1"
        report = read_json(home / "train/train.json")
        used = report["settings"]
        assert point["settings"] == {key: used[key] for key in ("dropout", "megabatch")}
        assert (used["epochs"], used["anneal"], used["dim"]) == (1, 3, 16)
        assert (report["final"]["score"], report["steps"]) == (point["score"], point["steps"])
        assert not (home / "model/model.safetensors").exists() and not (home / "eval.json").exists()
    best = max(found["points"], key=lambda point: point["score"])
    assert found["best"] == best["name"] and len({point["score"] for point in found["points"]}) == 4
    shown = workflow.psp("show", "results/demo", "--all").stdout
    assert f"the best is {best['name']}" in shown and f"{best['score']:.2f}" in shown

    evaluation = read_json(folder / "eval.json")
    used = evaluation["train"]["settings"]
    assert used == read_json(folder / "train/train.json")["settings"]
    assert best["settings"].items() <= used.items()
    assert (used["epochs"], used["anneal"]) == (2, 4)  # its own, not those of the points
    recipe = {"dropout": 0, "megabatch": 60}
    told = {key.removeprefix("train."): value for key, value in evaluation["differences"].items()}
    assert {key: told[key] for key in recipe if key in told} == {
        key: value for key, value in best["settings"].items() if value != recipe[key]
    }
    assert told["settings_from"] == "variants"


@pytest.mark.slow
def test_only_what_changes_a_training_trains_points_again(copy_of_searched):
    workflow = copy_of_searched
    # The grid decides these two, so the config's values are not used.
    workflow.edit("tiny.yaml", "megabatch: 4, anneal", "log_every: 7, megabatch: 5, dropout: 0.4, anneal")
    assert workflow.planned(EVAL) == set()
    workflow.edit("tiny.yaml", "[0, 0.1]", "[0, 0.1, 0.2]")
    assert planned_points(workflow) == ["dropout=0.2+megabatch=2", "dropout=0.2+megabatch=4"]
    workflow.edit("tiny.yaml", "[0, 0.1, 0.2]", "[0, 0.1]")
    workflow.edit("tiny.yaml", '"epochs": [1]', '"epochs": [2]')
    assert planned_points(workflow) == NAMES
