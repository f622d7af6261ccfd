"""Entries of ``translators``."""

import pytest

from psp.core.errors import ConfigError
from tests.config.test_config import CORPORA, config, fr, message
from tests.config.test_translated_entries import CATALOGUE


def translator(models, **entry):
    return config(models, corpora=CATALOGUE, translators={"t": entry}).translator("t")


def refused(models=None, **entry):
    return message(models=models or fr(), corpora=CATALOGUE, translators={"t": entry})


def test_the_bitext_of_a_model_is_turned_into_the_translators_order():
    models = fr(
        filters={"length": {"max": 60}}, corpora=["Europarl", {"name": "Bible", "filters": {"length": {"max": 20}}}]
    )
    found = translator(models, languages=["fr", "en"], **{"from": {"model": "fr"}}, filters={"length": {"min": 2}})
    assert found.languages == found.data.languages == ("fr", "en")
    assert [part.label for part in found.data.parts] == ["Europarl.fr-en", "Bible.fr-en"]
    assert [part.download for part in found.data.parts] == [
        "opus/Europarl/v8/en-fr.txt.zip", "opus/Bible/v1/en-fr.txt.zip"
    ]  # fmt: skip
    first, second = found.data.parts
    assert (first.filters["length"]["min"], first.filters["length"]["max"]) == (2, 60)
    assert second.filters["length"]["max"] == 20
    assert found.data.name == "translators/t"
    assert found.licence == "CC0-1.0 AND MIT"
    assert found.data["segment"] == {} and found.data["development"]["heldout"] == 0
    same = translator(models, languages=["en", "fr"], **{"from": {"model": "fr"}})
    assert [part.label for part in same.data.parts] == ["Europarl.en-fr", "Bible.en-fr"]


def test_corpora_of_its_own_and_settings_of_the_training():
    own = {"path": "mine.tsv", "languages": ["en", "fr"], "licence": "MIT"}
    train = {"steps": 5, "vocab_size": 300, "heldout": {"Bible": 7, "rest": 9}, "threads": 3}
    entry = {"languages": ["fr", "en"], "corpora": ["Bible", own], "train": train}
    found = config(
        fr(), corpora=CATALOGUE, filters={"length": {"max": 33}}, seed=4, translators={"t": entry}
    ).translator("t")  # fmt: skip
    assert [part.label for part in found.data.parts] == ["Bible.fr-en", "mine.fr-en"]
    assert found.data.parts[1].path == "mine.tsv"
    assert found.data.parts[0].filters["length"]["max"] == 33
    assert found.data["subword"]["vocab_size"] == 300 and found.data["subword"]["threads"] == 3
    assert found.train["steps"] == 5 and found.train["heldout"] == {"Bible": 7, "rest": 9} and found.train["dim"] == 256
    assert found.data.seed == 4


def test_a_generator_of_paraphrases_has_one_language():
    models = {"en": {"languages": ["en"], "corpora": ["Para"]}}
    found = translator(models, languages=["en", "en"], **{"from": {"model": "en"}})
    assert [part.label for part in found.data.parts] == ["Para.en-en"]


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        ({"corpora": ["Bible"]}, "translators.t: names no languages; write source and target"),
        ({"languages": ["fr", "en"]}, "translators.t: needs either `corpora`, its bitext, or `from"),
        ({"languages": ["fr", "en"], "corpora": ["Bible"], "from": {"model": "fr"}}, "needs either `corpora`"),
        ({"languages": ["fr", "en"], "from": {"model": "frr"}}, "frr is not a model of the config; did you mean fr?"),
        ({"languages": ["de", "en"], "from": {"model": "fr"}}, "fr has no corpus in de and en"),
        ({"languages": ["fr", "en"], "corpora": ["Bibel"]}, "Bibel is not a corpus of the config; did you mean Bible?"),
        ({"languages": ["fr", "en"], "corpora": [{"model": "fr"}]}, "write `from: {model: name}` instead"),
        ({"languages": ["fr", "en"], "corpora": ["Bible", "Bible"]}, "Bible.fr-en is listed twice"),
        (
            {"languages": ["fr", "en"], "corpora": ["Bible"], "train": {"dim": 250}},
            "translators.t.train.dim is 250, but must be a multiple of 8",
        ),
        (
            {"languages": ["fr", "en"], "corpora": ["Bible"], "train": {"heldout": {"Bibel": 5}}},
            "translators.t.train.heldout: Bibel is not one of its corpora; did you mean Bible?",
        ),
        (
            {"languages": ["fr", "en"], "corpora": ["Bible"], "scores": "none"},
            "t.scores: is for existing translators",
        ),
        ({"languages": ["fr", "en"], "command": "cat", "train": {}}, "t.train: is for translators to train"),
        (
            {"languages": ["fr", "en"], "command": "cat", "ctranslate2": "x"},
            "translators.t: has ctranslate2 and command; write one of",
        ),
        ({"languages": ["fr", "en"], "command": "cat", "search": {"beam": 2}}, "translators.t.beam is not a key"),
        ({"languages": ["fr", "en"], "ctranslate2": "x", "search": {"sampling": 3}}, "set `beam: 1`"),
        ({"languages": ["fr", "en"], "corpora": ["Bible"], "search": {"sampling": 3}}, "set `beam: 1`"),
    ],
)
def test_a_wrong_entry_is_one_line(entry, words):
    assert words in refused(**entry)


def test_translators_that_are_there_already(monkeypatch):
    monkeypatch.setenv("HERE", "/here")
    languages = ["fr", "en"]
    command = translator(fr(), languages=languages, command="tr a-z A-Z", licence="MIT")
    assert (command.settings, command.files, command.licence) == (
        {"command": "tr a-z A-Z", "scores": "none", "timeout": 3600}, (), "MIT"
    )  # fmt: skip
    assert command.data is None
    own = {"ctranslate2": "${HERE}/opus-mt", "target_sentencepiece": "${HERE}/t.spm", "search": {"beam": 7}}
    ready = translator(fr(), languages=languages, **own)
    assert ready.settings["ctranslate2"] == "/here/opus-mt" and ready.settings["beam"] == 7
    assert ready.settings["max_tokens"] == 256 and ready.licence is None
    assert ready.files == ("/here/opus-mt/model.bin", "/here/t.spm")
    made = config(fr(), corpora=CATALOGUE, translators={"t": {"languages": languages, **own}})
    assert made.translators == ("t",) and made.trained_translators == ()


def test_a_trained_one_is_loaded_from_its_folder():
    entry = {"languages": ["fr", "en"], "corpora": ["Bible"], "train": {"max_tokens": 90}, "search": {"beam": 3}}
    found = translator(fr(), **entry)
    assert found.settings["ctranslate2"] == "results/translators/t/model/ctranslate2"
    assert (found.settings["max_tokens"], found.settings["beam"]) == (90, 3)
    assert "results/translators/t/model/ctranslate2/model.bin" in found.files


def test_a_name_that_cannot_be_a_folder_and_one_that_is_not_there():
    assert "translators" in message(
        models=fr(), corpora=CATALOGUE, translators={"../x": {"languages": ["fr", "en"], "corpora": ["Bible"]}}
    )
    with pytest.raises(ConfigError, match=r"fr-en is not a translator of the config; there are none; add it under"):
        config(fr()).translator("fr-en")
    assert "translators" in message(models={"translators": fr()["fr"]})  # a folder of its own


def test_licences_are_checked_when_it_is_to_be_trained():
    made = config(
        fr(), corpora={**CORPORA, "Bible": CATALOGUE["Bible"]}, licences={"allow": ["MIT"]},
        translators={name: {"languages": ["fr", "en"], "corpora": [name]} for name in ("Bible", "Europarl")},
    )  # fmt: skip
    assert made.cleared_translator("Bible").licence == "MIT"
    with pytest.raises(ConfigError, match=r"translators.Europarl.corpora: Europarl declares no licence"):
        made.cleared_translator("Europarl")
