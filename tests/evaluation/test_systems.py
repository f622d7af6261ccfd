"""The block `compare`: systems by name, and the tasks on which they are compared."""

from __future__ import annotations

import pytest

from psp.core.errors import ConfigError
from psp.evaluation.systems import BASELINES, check, named, without_untrained


def test_a_system_is_called_by_the_last_part_of_its_encoder(monkeypatch):
    monkeypatch.setenv("MODELS", "/models")
    found = named([
        *BASELINES, "minilm", "results/multi/model", "sentence-transformers:intfloat/e5-small", "${MODELS}/glove.txt",
        "model2vec:${MODELS}/potion", {"name": "other", "encoder": "results/en/model"},
    ])  # fmt: skip
    assert found == {
        **{name: name for name in BASELINES}, "minilm": "minilm", "multi": "results/multi/model",
        "e5-small": "sentence-transformers:intfloat/e5-small", "glove.txt": "/models/glove.txt",
        "potion": "model2vec:/models/potion", "other": "results/en/model",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("items", "said"),
    [
        (["a/x.txt", "b/x.txt"], "a/x.txt and b/x.txt are both called x.txt; write {name: ..., encoder: 'b/x.txt'}"),
        (["minilm", "minilm"], "both called minilm"),
        (["a/my vectors"], "a/my vectors needs a name; write {name: ..., encoder: 'a/my vectors'}"),
        ([{"name": "trained", "encoder": "minilm"}], "trained is the model itself; give minilm another name"),
    ],
)
def test_names_that_cannot_be_are_told(items, said):
    with pytest.raises(ConfigError) as told:
        named(items, "models.fr.compare.systems")
    assert str(told.value).startswith("models.fr.compare.systems: ") and said in str(told.value)


def test_a_task_that_the_model_does_not_have_is_told():
    block = {"systems": ["minilm"], "tasks": ["ppc"]}
    check(block, ["cr-h", "ppc"], "models.pl")
    with pytest.raises(ConfigError, match=r"models\.pl\.compare\.tasks: ppc is not one .*tasks; there are cr-h"):
        check(block, ["cr-h"], "models.pl")
    with pytest.raises(ConfigError, match="there are none"):
        check(block, [], "models.pl")
    with pytest.raises(ConfigError, match=r"models\.pl\.compare\.systems: minilm and a/minilm are both called"):
        check({"systems": ["minilm", "a/minilm"], "tasks": []}, [], "models.pl")


def test_a_model_without_untrained_baselines_keeps_its_tasks():
    block = {"systems": [*BASELINES], "tasks": ["ppc"]}
    assert without_untrained(block, {}, "models.pl") == {"systems": ["word-overlap"], "tasks": ["ppc"]}
