"""A development set of the user's own is cleared of evaluated sentences before a model is selected on it."""

import json

import pytest

PAIRS = "3\tthe first one\tthe other one\n1\tpart of a test\tand this\n4\twe are late\twe are not on time\n"


@pytest.mark.slow
def test_a_development_set_is_kept_clear_of_the_test_sets(copy_of_finished):
    project = copy_of_finished
    (project.folder / "mine.tsv").write_text(PAIRS)
    (project.folder / "test.tsv").write_text("2\tPart of a test!\tsomething\n1\ta\tb\n")
    (project.folder / "own.yaml").write_text(
        "models:\n"
        "  demo:\n"
        "    development: {sts: mine.tsv}\n"
        "    filters: {decontaminate: {enabled: false}}\n"
        "    evaluate: {files: {seen: mine.tsv, own: test.tsv}}\n"
    )
    configs = ("config/demo.yaml", "tiny.yaml", "own.yaml")
    planned = project.planned("results/demo/eval.json", configs=configs)
    assert {"development_pairs", "train", "evaluate"} <= planned

    project.run("results/demo/pairs/development.tsv", configs=configs)
    pairs = project.folder / "results/demo/pairs"
    assert (pairs / "development.tsv").read_text() == "".join(PAIRS.splitlines(keepends=True)[::2])
    report = json.loads((pairs / "development.json").read_text())
    assert report["dropped"] == {"files/own": 1}  # a file that is also evaluated does not clear itself


@pytest.mark.slow
def test_further_sets_are_cleared_kept_out_of_training_and_chosen_by(copy_of_finished):
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
        "models: {demo: {evaluate: {files: {own: test.tsv}}}}\n"
    )
    configs = ("config/demo.yaml", "tiny.yaml", "own.yaml")
    planned = project.planned("results/demo/train/train.json", configs=configs)
    assert {"development_set", "filter", "train"} <= planned
    project.run("results/demo/train/train.json", configs=configs)
    pairs = project.folder / "results/demo/pairs"
    assert [file.name for file in sorted((pairs / "development").iterdir())] == ["own.json", "own.tsv"]
    lines = (pairs / "development/own.tsv").read_text().splitlines()
    assert lines == [*PAIRS.splitlines()[::2], "2\tmore of it\tmuch more of it"]
    final = json.loads((project.folder / "results/demo/train/train.json").read_text())["final"]
    assert (final["sets"]["own"]["items"], final["sets"]["own"]["weight"]) == (3, 2)
    assert final["retrieval"]["candidates"] == 500

    (project.folder / "a.tsv").unlink()
    refused = project.run("results/demo/train/train.json", check=False, configs=configs)
    assert refused.returncode
    assert "a.tsv: no such file, but models.demo.development.sets.own.path (1) names it" in refused.output
