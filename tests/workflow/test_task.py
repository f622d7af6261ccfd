"""A task is a target of its own: it makes nothing else again, and nothing else waits for it."""

import json
from pathlib import Path

import pytest

TASK, OWN = "results/demo/tasks/mine.json", "results/demo/tasks/own.json"
TASKS = (
    ", tasks: {mine: {task: tatoeba, sets: {fr: [a.fr, a.en]}}, own: {task: 'triplets:Triplets', path: triplets.tsv}}"
)
CODE = (Path(__file__).parents[1] / "evaluation/tasks/triplets.py").read_text()


@pytest.mark.slow
def test_a_task_is_scored_and_reruns_nothing(copy_of_finished):
    workflow, folder = copy_of_finished, copy_of_finished.folder
    (folder / "a.en").write_text("a red car\nwe are late\nwhere is the station?\n")
    (folder / "a.fr").write_text("une voiture rouge\nnous sommes en retard\noù est la gare ?\n")
    (folder / "triplets.py").write_text(CODE)
    (folder / "triplets.tsv").write_text("a red car\tune voiture rouge\tla gare\n" * 3)
    workflow.edit("tiny.yaml", "{resamples: 100", "{resamples: 100" + TASKS)
    assert workflow.planned(*(f"results/demo/{name}" for name in ("eval.json", "data.json", "card.md"))) == set()
    assert workflow.planned(TASK) == {"added_task"}
    workflow.run(TASK, OWN)
    assert json.loads((folder / TASK).read_text())["parts"]["eng-fra"]["items"] == 3
    assert workflow.planned(TASK) == set()
    (folder / "a.fr").write_text("une voiture\nen retard\nla gare\n")
    assert workflow.planned(TASK) == {"added_task"}
    assert json.loads((folder / OWN).read_text())["task"] == "triplets:Triplets"
    (folder / "triplets.py").write_text(CODE.replace("> scorer", ">= scorer"))
    assert workflow.planned(OWN) == {"added_task"}
    (folder / "triplets.py").unlink()
    said = workflow.run(OWN, check=False).output
    assert "evaluate.tasks.own.task: triplets:Triplets: there is no module triplets; put triplets.py" in said
