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
