"""What a model is scored on is kept out of its training pairs, and eval.json says how much that was."""

import json
import zipfile

import pytest

from psp.text.keys import normalised_key

CONFIG = """
keep_intermediate: true
models:
  demo:
    evaluate: {files: {own: own.tsv}}
  demo-all:
    extends: demo
    filters: {decontaminate: {enabled: false}}
  demo-task:
    extends: demo
    evaluate: {files: {own: graded.tsv}, tasks: {own: {task: similarity, path: own.tsv}}}
  demo-clean:
    extends: demo-task
    filters: {decontaminate: {sets: [tatoeba, files, development, tasks]}}
"""


def sides_in(path, keys):
    """How many pairs of a mixed pair file have a side with one of the keys."""
    pairs = [line.split("\t")[:2] for line in path.read_text("utf-8").split("\n")[:-1]]
    return sum(any(normalised_key(side) in keys for side in pair) for pair in pairs)


@pytest.mark.slow
def test_pairs_that_the_model_is_scored_on_are_dropped_and_counted(copy_of_finished):
    project = copy_of_finished
    archive = project.folder / "results/downloads/opus/Phrasebook/v1/en-fr.txt.zip"
    with zipfile.ZipFile(archive) as file:
        member = next(name for name in file.namelist() if name.endswith(".en"))
        lines = [line for line in file.read(member).decode().split("\n") if 4 <= len(line.split()) <= 20]
    chosen = lines[:400:10]
    (project.folder / "own.tsv").write_text("".join(f"{n % 6}\t{one}\tNot in it.\n" for n, one in enumerate(chosen)))
    (project.folder / "own.yaml").write_text(CONFIG)
    configs = ("config/demo.yaml", "tiny.yaml", "own.yaml")
    (project.folder / "graded.tsv").write_text("1\tNot in it.\tNor this.\n" * 3)
    project.run(
        "results/demo/eval.json",
        "results/demo-all/pairs/mix.tsv",
        "results/demo-task/tasks/own.json",
        "results/demo-clean/pairs/mix.tsv",
        configs=configs,
    )

    results = project.folder / "results"
    keys = {normalised_key(text) for text in chosen}
    assert sides_in(results / "demo-all/pairs/mix.tsv", keys) >= 20
    assert sides_in(results / "demo/pairs/mix.tsv", keys) == 0
    evaluation = json.loads((results / "demo/eval.json").read_text())
    found = [report["dropped"].get("decontaminate: files/own", 0) for report in evaluation["data"]["filter"]]
    settings = {"enabled": True, "mode": "side", "sets": ["sts", "tatoeba", "files", "development"]}
    assert evaluation["decontaminated"] == {**settings, "pairs": sum(found)}
    assert sum(found) >= 20
    assert evaluation["tasks"]["files"]["parts"]["own"]["items"] == len(chosen)

    # The same sentences as a task remain, and are counted beside its scores; and they go where the config asks for it.
    task = json.loads((results / "demo-task/tasks/own.json").read_text())
    assert task["overlap"]["in_training"] >= 20
    assert task["overlap"]["sentences"] == len({*chosen, "Not in it."})
    assert sides_in(results / "demo-clean/pairs/mix.tsv", keys) == 0
