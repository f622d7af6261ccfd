"""Filters that depend on files of the user's own: their code and their vectors are part of what a run depends on."""

import json

import pytest

REPORT = "results/demo/pairs/filter/Phrasebook.en-fr.json"
CODE = """
def keep(source, target):
    return (False, "a question") if source.endswith("?") else True
"""
FILTERS = """    filters:
      custom: [own_rules:keep]
      similarity: {enabled: true, encoder: own.vec, min: -0.5}
"""


@pytest.fixture
def own(copy_of_finished):
    """A finished run, and a config with filters of the user's own."""
    folder = copy_of_finished.folder
    (folder / "own_rules.py").write_text(CODE)
    (folder / "own.vec").write_text("the 1 0\nle 1 0.5\nla 1 0.5\n")
    copy_of_finished.add(FILTERS)
    return copy_of_finished


@pytest.mark.slow
def test_they_run_and_a_change_of_them_reruns_the_filter(own):
    assert "filter" in own.planned(REPORT)
    own.run(REPORT)
    dropped = json.loads((own.folder / REPORT).read_text())["dropped"]
    assert dropped["custom: a question"] > 50
    assert own.planned(REPORT) == set()

    (own.folder / "own_rules.py").write_text(CODE.replace("?", "!"))
    assert own.planned(REPORT) == {"filter"}
    (own.folder / "own_rules.py").write_text(CODE)
    assert own.planned(REPORT) == set()

    (own.folder / "own.vec").write_text("the 1 0\nle -1 0\nla -1 0\n")
    assert own.planned(REPORT) == {"filter"}
    own.run(REPORT)
    assert json.loads((own.folder / REPORT).read_text())["dropped"]["similarity: too low"] > 50
