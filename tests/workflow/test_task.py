"""A task is a target of its own: it makes nothing else again, and nothing else waits for it."""

import json

import pytest

EVAL, TASK = "results/demo/eval.json", "results/demo/tasks/mine.json"
TASKS = ", tasks: {mine: {task: tatoeba, sets: {fr: [a.fr, a.en]}}}"


@pytest.fixture
def with_task(copy_of_finished):
    folder = copy_of_finished.folder
    (folder / "a.en").write_text("a red car\nwe are late\nwhere is the station?\n")
    (folder / "a.fr").write_text("une voiture rouge\nnous sommes en retard\noù est la gare ?\n")
    copy_of_finished.edit("tiny.yaml", "{resamples: 100", "{resamples: 100" + TASKS)
    return copy_of_finished


@pytest.mark.slow
def test_a_task_reruns_nothing_and_a_wrong_one_is_told_first(with_task):
    everything = [f"results/demo/{name}.json" for name in ("eval", "data")]
    assert with_task.planned(*everything, "results/demo/card.md") == set()
    assert with_task.planned(TASK) == {"added_task"}
    result = with_task.run("--dry-run", TASK.replace("mine", "mime"), check=False)
    assert "models.demo.evaluate.tasks: mime is not one of them; did you mean mine?" in result.output
    (with_task.folder / "a.en").rename(with_task.folder / "b.en")
    result = with_task.run("--dry-run", TASK, check=False)
    assert "error: a.en: no such file, but models.demo.evaluate.tasks.mine needs it" in result.output
    assert result.returncode != 0 and len(result.output.splitlines()) < 8


@pytest.mark.slow
def test_it_is_scored(with_task):
    with_task.run(TASK)
    found = json.loads((with_task.folder / TASK).read_text())
    assert found["parts"]["eng-fra"]["items"] == 3
    assert with_task.planned(TASK) == set()
    (with_task.folder / "a.fr").write_text("une voiture\nen retard\nla gare\n")
    assert with_task.planned(TASK) == {"added_task"}
