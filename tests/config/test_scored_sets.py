"""Which sets a model is scored and chosen on, what of them training must not hold, and their files."""

import pytest

from psp.config import scored_sets
from psp.config.config import Config
from psp.core.errors import ConfigError

OWN = {
    "languages": ["en", "fr"],
    "corpora": ["A"],
    "evaluate": {"files": {"mine": "mine.tsv"}},
    "development": {
        "sts": "mine.tsv",
        "sets": {"pairs": {"task": "similarity", "path": "chosen.tsv", "range": [0, 5], "language": "en"}},
    },
}
STS = "results/downloads/sts/STS.zip"


def made(**own):
    config = Config({"corpora": {"A": {"version": "v1"}}, "models": {"fr": {**OWN, **own}}})
    return config, config.model("fr")


def test_the_files_that_every_model_is_scored_on():
    found = scored_sets.test_files(*made())
    assert found["sts"] == STS and found["files"] == ["mine.tsv"]
    assert [name.rpartition(".")[2] for name in found["tatoeba"]] == ["fra", "eng"]
    assert "sts" not in scored_sets.test_files(*made(evaluate={"sts": False}))


def test_training_holds_no_sentence_of_a_set_unless_the_config_allows_it():
    config, model = made()
    kept = scored_sets.kept_out(config, model, model.parts[0])
    assert {STS, "mine.tsv"} <= set(scored_sets.files(config, model, kept))
    config, model = made(filters={"decontaminate": {"enabled": True, "sets": ["development"]}})
    kept = scored_sets.kept_out(config, model, model.parts[0])
    assert scored_sets.files(config, model, kept) == ["chosen.tsv", "mine.tsv"]
    config, model = made(filters={"decontaminate": {"enabled": False}})
    assert scored_sets.kept_out(config, model, model.parts[0]) == {}


def test_a_development_set_is_not_kept_clear_of_itself():
    config, model = made()
    assert scored_sets.kept_clear_of(config, model)["files"] == {}
    assert scored_sets.judged_files(model, "pairs") == ["chosen.tsv"]
    with pytest.raises(ConfigError, match="others is not one of them; there are pairs"):
        scored_sets.judged_set(model, "others")
