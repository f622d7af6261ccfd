"""A task is a target of its own: it makes nothing else again, and nothing else waits for it."""

import json

import pytest

TASK = "results/demo/tasks/mine.json"
TASKS = ", tasks: {mine: {task: tatoeba, sets: {fr: [a.fr, a.en]}}}"


@pytest.mark.slow
def test_a_task_is_scored_and_reruns_nothing(copy_of_finished):
    workflow, folder = copy_of_finished, copy_of_finished.folder
    (folder / "a.en").write_text("a red car\nwe are late\nwhere is the station?\n")
    (folder / "a.fr").write_text("une voiture rouge\nnous sommes en retard\noù est la gare ?\n")
    workflow.edit("tiny.yaml", "{resamples: 100", "{resamples: 100" + TASKS)
    assert workflow.planned(*(f"results/demo/{name}" for name in ("eval.json", "data.json", "card.md"))) == set()
    assert workflow.planned(TASK) == {"added_task"}
    workflow.run(TASK)
    assert json.loads((folder / TASK).read_text())["parts"]["eng-fra"]["items"] == 3
    assert workflow.planned(TASK) == set()
    (folder / "a.fr").write_text("une voiture\nen retard\nla gare\n")
    assert workflow.planned(TASK) == {"added_task"}
