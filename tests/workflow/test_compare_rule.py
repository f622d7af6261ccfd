"""Other systems beside a model: each a job of its own, and what they differ by."""

import json

import pytest

pytestmark = pytest.mark.slow  # its run

COMPARE = "results/demo/compare.json"


def test_every_system_is_beside_the_model(compared):
    folder = compared.folder / "results/demo"
    found = json.loads((folder / "compare.json").read_text())
    assert list(found["systems"]) == ["trained", "untrained", "untrained+sif", "word-overlap"]
    assert list(found["differences"]) == ["untrained", "untrained+sif", "word-overlap"]
    for name in found["differences"]:
        assert json.loads((folder / f"systems/{name}/eval.json").read_text())["model"] == name
    assert compared.planned(COMPARE) == set()


def test_another_system_is_scored_alone_and_trains_nothing(compared, tmp_path):
    copy = compared.copy(tmp_path / "copy")
    (copy.folder / "vectors.txt").write_text("the 1 0\nhouse 0 1\nla 1 0\nmaison 0 1\n")
    (copy.folder / "more.yaml").write_text(
        "compare:\n"
        "  systems:\n"
        "    - untrained\n"
        "    - {name: words, encoder: vectors.txt}\n"
        "    - {name: itself, encoder: results/demo/model}\n"
        "  tasks: [own]\n"
        "evaluate: {tasks: {own: {task: similarity, path: own.tsv}}}\n"
    )
    (copy.folder / "own.tsv").write_text(
        "1\tthe house\tla maison\n2\tthe\thouse\n3\tla\tthe\n4\tred\tla\n5\tred\tred\n0\tla maison\tcar\n"
    )
    configs = ("config/demo.yaml", "tiny.yaml", "more.yaml")
    assert copy.planned(COMPARE, configs=configs) == {"system", "added_task", "system_task", "compare"}
    tasks = [f"results/demo/systems/{name}/tasks/own.json" for name in ("words", "untrained")]
    copy.run(COMPARE, configs=configs)
    found = json.loads((copy.folder / COMPARE).read_text())
    assert list(found["systems"]) == ["trained", "untrained", "words", "itself"]
    assert found["systems"]["itself"] == found["systems"]["trained"]
    assert all(one == {"difference": 0.0, "interval": [0.0, 0.0]} for one in found["differences"]["itself"].values())
    assert not (copy.folder / "results/embeddings").exists()  # word vectors and our own models are fast
    assert found["tasks"]["own"].keys() == {"untrained", "words", "itself"}
    same = found["tasks"]["own"]["itself"]["own"]
    assert same["pearson"] == same["spearman"] == {"difference": 0.0, "interval": [0.0, 0.0]}
    for task in tasks:
        assert json.loads((copy.folder / task).read_text())["parts"]["own"]["items"] == 6
    assert copy.planned(COMPARE, configs=configs) == set()
    (copy.folder / "vectors.txt").write_text("the 1 0\nhouse 0 1\n")
    assert copy.planned(COMPARE, configs=configs) == {"system", "system_task", "compare"}
