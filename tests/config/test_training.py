"""How the workflow trains each kind of models: what makes a model anew, and what does not."""

import pytest

from psp.config import training
from psp.config.blocks.filters import FiltersBlock
from psp.config.blocks.training import TrainBlock, TrainSettings
from psp.config.blocks.transformer import TransformerSettings
from psp.config.config import Config

ENTRIES = {
    "fr": {"languages": ["en", "fr"], "corpora": ["A"]},
    "words": {"extends": "fr", "encoder": "word"},
    "lstm": {"extends": "fr", "encoder": "lstm"},
    "both": {"encoder": {"add": ["fr", "words"], "joint": True}},
    "tiny": {"languages": ["en", "fr"], "corpora": ["A"], "encoder": {"kind": "transformer", "base": "some/base"}},
}


def model(name="fr", **own):
    models = {**ENTRIES, name: {**ENTRIES[name], **own}}
    return Config({"corpora": {"A": {"version": "v1"}}, "models": models}).model(name)


def parameters(of):
    return training.transformer_parameters(of) if of.base else training.parameters(of)


#: Another value for each key of which another makes nothing anew.
UNTRACKED = {
    "log_every": 7, "checkpoint": {"keep": 1}, "threads": 1,
}  # fmt: skip
#: What does not change a model is not a difference from its recipe; another number of threads can.
DIFFERS = {"threads"}


@pytest.mark.parametrize("key", UNTRACKED)
def test_what_changes_nothing_of_a_model_makes_nothing_anew(key):
    changed = model(train={key: UNTRACKED[key]})
    assert parameters(changed) == parameters(model())
    assert bool([one for one in changed.differences if one.startswith("train.")]) == (key in DIFFERS)
    assert training.beside(changed) != training.beside(model())


@pytest.mark.parametrize(
    "key", sorted(set(TrainBlock.declared()) - set(UNTRACKED) - {"settings_from", "init_vectors", "init_encoder"})
)
def test_everything_else_does(key):
    assert TrainBlock.tracked({**TrainBlock.defaults(), key: "another"}) == {key: "another"}


@pytest.mark.parametrize("key", sorted(TransformerSettings.declared()))
def test_so_it_is_with_transformers(key):
    inert = key in ("threads", "device", "log_every", "checkpoint_steps")
    assert TransformerSettings.tracked({**TransformerSettings.defaults(), key: "another"}) == (
        {} if inert else {key: "another"}
    )


def test_defaults_are_left_out_of_a_rules_params_so_that_a_new_setting_makes_nothing_anew():
    assert parameters(model())["train"] == {}
    paper = model(recipe="paper")
    assert TrainBlock.whole(parameters(paper)["train"]) == {**TrainBlock.defaults(), **parameters(paper)["train"]}
    assert TrainSettings.of(parameters(paper)["train"]) == TrainSettings(**TrainSettings.defaults("paper"))
    filters = model(filters={"length": {"max": 9}}).parts[0].filters
    assert FiltersBlock.tracked(filters) == {"length": {"max": 9}}
    assert FiltersBlock.whole(FiltersBlock.tracked(filters)) == filters


def test_what_a_search_decides_is_not_compared():
    tuned = model(train={"settings_from": "variants", "epochs": 3}, variants={"grid": {"epochs": [1, 2]}})
    assert parameters(model(train={"epochs": 3}))["train"] == {"epochs": 3} and parameters(tuned)["train"] == {}


def test_models_of_one_rule_have_the_same_files():
    config = Config({"corpora": {"A": {"version": "v1"}}, "models": ENTRIES})
    files = {}
    for name in ENTRIES:
        entry = config.model(name)
        files.setdefault(entry.of.rule(entry), set()).add(tuple(entry.of.files(entry)))
    assert files.keys() == {"train", "train_vocabulary", "train_joint", "train_transformer"}
    assert all(len(one) == 1 for one in files.values())


def test_encoders_trained_together_take_the_memory_of_all():
    config = Config({"corpora": {"A": {"version": "v1"}}, "models": ENTRIES})
    each = [training.table_mb(config.model(name), config.model) for name in ("fr", "words", "both")]
    assert each[2] == pytest.approx(each[0] + each[1])
