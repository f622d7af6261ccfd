"""A development set of the user's own is cleared of evaluated sentences before a model is selected on it."""

import json

import pytest

PAIRS = "3\tthe first one\tthe other one\n1\tpart of a test\tand this\n4\twe are late\twe are not on time\n"


@pytest.mark.slow
def test_development_sets_are_cleared_of_the_test_sets_kept_out_of_training_and_chosen_by(copy_of_finished):
    project = copy_of_finished
    (project.folder / "a.tsv").write_text(PAIRS)
    (project.folder / "b.tsv").write_text("2\tmore of it\tmuch more of it\n")
    (project.folder / "test.tsv").write_text("2\tPart of a test!\tsomething\n1\ta\tb\n")
    (project.folder / "own.yaml").write_text(
        "development:\n"
        "  candidates: 500\n"
        "  sets:\n"
        "    own: {task: similarity, language: en, path: [a.tsv, b.tsv], weight: 2}\n"
        "    elsewhere: {task: similarity, language: pl, path: nowhere.tsv}\n"
        "models: {demo: {development: {sts: a.tsv}, evaluate: {files: {seen: a.tsv, own: test.tsv}}}}\n"
    )
    configs = ("config/demo.yaml", "tiny.yaml", "own.yaml")
    planned = project.planned("results/demo/eval.json", configs=configs)
    assert {"development_pairs", "development_set", "filter", "train", "evaluate"} <= planned
    project.run("results/demo/train/train.json", configs=configs)
    pairs = project.folder / "results/demo/pairs"
    clear = PAIRS.splitlines()[::2]
    assert (pairs / "development.tsv").read_text().splitlines() == clear
    report = json.loads((pairs / "development.json").read_text())
    assert report["dropped"] == {"files/own": 1}  # a file that is also evaluated does not clear itself
    assert [file.name for file in sorted((pairs / "development").iterdir())] == ["own.json", "own.tsv"]
    assert (pairs / "development/own.tsv").read_text().splitlines() == [*clear, "2\tmore of it\tmuch more of it"]
    final = json.loads((project.folder / "results/demo/train/train.json").read_text())["final"]
    assert (final["sets"]["own"]["items"], final["sets"]["own"]["weight"]) == (3, 2)
    assert final["retrieval"]["candidates"] == 500
