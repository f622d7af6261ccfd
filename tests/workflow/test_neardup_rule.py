"""Near-duplicate removal as a setting of a model."""

import json

import pytest

EVAL = "results/demo/eval.json"
# Of the demo's text few pairs resemble one another as much as the default asks for.
TINY = "    mix: {near_duplicates: {enabled: true, threshold: 0.6}}\n"


@pytest.mark.slow
def test_near_duplicates_go_where_the_config_asks_for_it(copy_of_finished):
    project = copy_of_finished
    results = project.folder / "results/demo"
    mixed = json.loads((results / "pairs/mix.json").read_text())["total"]["kept"]
    assert not list(results.glob("pairs/neardup*"))
    project.add(TINY)
    project.run(EVAL, "results/demo/data.json")
    counts = json.loads((results / "pairs/neardup.json").read_text())["total"]
    assert counts["in"] == mixed
    assert 0 < counts["kept"] < mixed
    evaluation = json.loads((results / "eval.json").read_text())
    assert evaluation["data"]["near_duplicates"]["total"] == counts
    assert evaluation["differences"]["mix.near_duplicates.enabled"] is True
    assert evaluation["train"]["pairs_seen"] == 2 * counts["kept"]
    data = json.loads((results / "data.json").read_text())
    assert data["total"]["near_duplicates"] == {name: counts[name] for name in ("same_key", "similar")}
    sample = (results / "pairs/neardup.dropped.tsv").read_text().split("\n")[:-1]
    assert sample and all(line.count("\t") == 5 for line in sample)
    assert not (results / "pairs/neardup.tsv").exists()  # text between the stages is removed
