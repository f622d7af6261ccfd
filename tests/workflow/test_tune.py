"""A search for settings through Snakemake: short trainings for the points, and a model trained as the winner was."""

import json
import re

import pytest

from psp.core.files import read_json

EVAL, TUNE = "results/demo/eval.json", "results/demo/tune.json"
GRID = {"dropout": [0, 0.1], "megabatch": [2, 4]}
NAMES = ["dropout=0+megabatch=2", "dropout=0+megabatch=4", "dropout=0.1+megabatch=2", "dropout=0.1+megabatch=4"]


def planned_points(workflow, target=TUNE):
    """The points that a run would train."""
    return sorted(re.findall(r"Tuning demo: (\S+)", workflow.run("--dry-run", "--", target).output))


@pytest.fixture(scope="module")
def searched(finished, once):
    """The finished demo, then trained again by the winner of a search. Not to be changed."""

    def search(folder):
        workflow = finished.copy(folder)
        # Sizes of mega-batches are searched where negatives are mined from them.
        margin = "anneal: 4, objective: margin, batch_size: 128, learning_rate: 0.001, tune: true, threads: 1}"
        text = (folder / "tiny.yaml").read_text().replace("anneal: 4}", margin)
        (folder / "tiny.yaml").write_text(text + f"    tune: {{grid: {json.dumps(GRID)}, epochs: 1, anneal: 3}}\n")
        assert workflow.planned(EVAL) == {"tune_point", "tune", "train", "task", "evaluate"}
        workflow.run(EVAL)

    return once("searched", search)


@pytest.fixture
def copy_of_searched(searched, tmp_path):
    return searched.copy(tmp_path / "copy")


@pytest.mark.slow
def test_each_point_is_trained_shortly_and_the_best_is_the_winner(searched):
    folder = searched.folder / "results/demo"
    result = read_json(folder / "tune.json")
    assert [point["name"] for point in result["points"]] == NAMES
    for point in result["points"]:
        report = read_json(folder / "tune" / point["name"] / "train.json")
        used = report["settings"]
        assert {key: used[key] for key in GRID} == point["settings"]
        assert (used["epochs"], used["anneal"], used["dim"], report["threads"]) == (1, 3, 16, 1)
        assert (report["final"]["score"], report["steps"]) == (point["score"], point["steps"])
        assert (folder / "tune" / point["name"] / "metrics.csv").stat().st_size > 0
        assert not (folder / "tune" / point["name"] / "model").exists()
    assert result["winner"]["score"] == max(point["score"] for point in result["points"])
    assert len({point["score"] for point in result["points"]}) == 4


@pytest.mark.slow
def test_the_model_is_trained_with_the_winners_values_and_says_so(searched):
    folder = searched.folder / "results/demo"
    winner = read_json(folder / "tune.json")["winner"]["settings"]
    evaluation = read_json(folder / "eval.json")
    used = evaluation["train"]["settings"]
    assert used == read_json(folder / "train/train.json")["settings"]
    assert {key: used[key] for key in GRID} == winner
    assert (used["epochs"], used["anneal"]) == (2, 4)  # its own, not those of the search
    recipe = {"dropout": 0, "megabatch": 60}
    told = {key.removeprefix("train."): value for key, value in evaluation["differences"].items()}
    assert {key: told[key] for key in GRID if key in told} == {k: v for k, v in winner.items() if v != recipe[k]}
    assert told["tune"] is True


@pytest.mark.slow
def test_a_second_run_does_nothing(searched):
    assert searched.planned(EVAL) == set()


@pytest.mark.slow
def test_what_changes_no_training_trains_no_point_again(copy_of_searched):
    copy_of_searched.edit("tiny.yaml", "threads: 1}", "threads: 2, log_every: 7}")
    # The search decides these two, so the config's values are not used.
    copy_of_searched.edit("tiny.yaml", "megabatch: 4, anneal", "megabatch: 5, dropout: 0.4, anneal")
    assert copy_of_searched.planned(TUNE) == set()


@pytest.mark.slow
def test_a_grown_grid_trains_its_new_points_alone(copy_of_searched):
    copy_of_searched.edit("tiny.yaml", "[0, 0.1]", "[0, 0.1, 0.2]")
    assert planned_points(copy_of_searched) == ["dropout=0.2+megabatch=2", "dropout=0.2+megabatch=4"]
    copy_of_searched.edit("tiny.yaml", "[0, 0.1, 0.2]", "[0.1]")
    assert copy_of_searched.planned(EVAL) == {"tune", "train", "task", "evaluate"}


@pytest.mark.slow
def test_changed_settings_of_the_search_or_the_model_train_all_points_again(copy_of_searched):
    copy_of_searched.edit("tiny.yaml", "epochs: 1, anneal: 3", "epochs: 2, anneal: 3")
    assert planned_points(copy_of_searched) == NAMES
    copy_of_searched.edit("tiny.yaml", "epochs: 2, anneal: 3", "epochs: 1, anneal: 3")
    copy_of_searched.edit("tiny.yaml", "dim: 16", "dim: 24")
    assert planned_points(copy_of_searched) == NAMES


@pytest.mark.slow
def test_points_that_cannot_differ_end_the_run_with_one_line(copy_of_searched):
    copy_of_searched.edit("tiny.yaml", "epochs: 1, anneal: 3", "epochs: 1, anneal: 30")
    result = copy_of_searched.run("--cores", "1", "--", TUNE, check=False)
    assert result.returncode != 0
    assert "Traceback" not in result.output, result.output
    (line,) = set(re.findall(r"^error: .*$", result.output, re.MULTILINE))  # the job says it, and the last line again
    assert f"models.demo.tune.grid: {NAMES[0]} and {NAMES[1]} would be the same training" in line
    assert "the largest M reached is 1" in line and "`grid: {megabatch: [2]}`" in line
    faster = re.search(r"`anneal: (\d+)`", line)[1]
    # Nothing was trained, and what the line says to write is right.
    assert not (copy_of_searched.folder / "results/demo/tune/dropout=0+megabatch=2/checkpoints").exists()
    copy_of_searched.edit("tiny.yaml", "anneal: 30", f"anneal: {faster}")
    copy_of_searched.run("results/demo/tune/dropout=0+megabatch=2/train.json")


@pytest.mark.slow
def test_a_wrong_search_ends_before_anything_runs(project):
    text = (project.folder / "tiny.yaml").read_text()
    point = "results/demo/tune/dropout=0.7+megabatch=60/train.json"
    for target, development, words in (
        (TUNE, "{heldout: 0, sts: null}", "error: models.demo.development: sts is null and heldout is 0"),
        (
            point,
            "{heldout: 100}",
            "error: tune.grid: dropout=0.7+megabatch=60 is not a point of it; there",
        ),
    ):
        (project.folder / "tiny.yaml").write_text(text.replace("{heldout: 100}", development))
        result = project.run("--dry-run", "--", target, check=False)
        assert result.returncode != 0
        assert words in result.output, result.output
        assert "Traceback" not in result.output and len(result.output.splitlines()) < 8
