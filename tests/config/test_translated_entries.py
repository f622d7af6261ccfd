"""Items of a model's corpora that are translated bitext."""

import pytest

from psp.config.config import Config
from psp.config.plan import plan
from psp.config.resolved import resolved
from psp.core.errors import ConfigError
from tests.config.test_config import CORPORA, config, fr, message

CATALOGUE = {
    **CORPORA,
    "Europarl": {**CORPORA["Europarl"], "licence": "CC0-1.0"},
    "Bible": {"version": "v1", "licence": "MIT", "pairs": {"en-fr": 20000, "de-en": 30}},
}
TRANSLATORS = {
    "fr-en": {"languages": ["fr", "en"], "from": {"model": "fr"}},
    "ready": {"languages": ["fr", "en"], "command": "cat", "licence": "GPL-3.0-only"},
    "de-en": {"languages": ["de", "en"], "command": "cat"},
}
ITEM = {"translated": "en", "through": "fr", "from": {"model": "fr"}, "translator": "fr-en"}


def models(*items, **entry):
    bitext = fr(corpora=["Europarl", {"name": "Bible", "filters": {"length": {"max": 20}}}])
    return bitext | {"en": {"languages": ["en"], "corpora": list(items), **entry}}


def made(*items, translators=TRANSLATORS, top=None, **entry):
    return config(models(*items, **entry), corpora=CATALOGUE, translators=translators, **(top or {}))


def refused(*items, translators=TRANSLATORS, **entry):
    return message(models=models(*items, **entry), corpora=CATALOGUE, translators=translators)


def test_the_bitext_of_a_model_is_translated_and_scored_by_that_model():
    item = {**ITEM, "cap": 5, "filters": {"overlap": {"enabled": True}}}
    (part,) = made(item, filters={"length": {"max": 60}}).model("en").parts
    assert (part.kind, part.label, part.languages) == ("translated", "Translated-fr.en-en", ("en", "en"))
    assert (part.through, part.cap) == ("fr", 5)
    assert part.paraphrase and part.path is part.download is None
    assert [source.label for source in part.sources] == ["Europarl.en-fr", "Bible.en-fr"]
    assert part.sources[1].filters["length"]["max"] == 20
    assert part.translation == {
        "translator": "fr-en", "encoder": "results/fr/model", "sample": None, "threads": 2
    }  # fmt: skip
    # Filters as of any corpus.
    assert part.filters["length"]["max"] == 60 and part.filters["language"]["enabled"]
    assert part.filters["overlap"]["enabled"] and part.filters["decontaminate"]["enabled"]


def test_licences_of_bitext_and_translator():
    assert made(ITEM).model("en").parts[0].licence == "CC0-1.0 AND MIT"
    ready = {**ITEM, "translator": "ready"}
    assert made(ready).model("en").parts[0].licence == "CC0-1.0 AND GPL-3.0-only AND MIT"
    undeclared = {**TRANSLATORS, "ready": {"languages": ["fr", "en"], "command": "cat"}}
    assert made(ready, translators=undeclared).model("en").parts[0].licence is None
    strict = made(ready, top={"licences": {"allow": ["CC0-1.0", "MIT"]}})
    with pytest.raises(ConfigError, match=r"Translated-fr has the licence .*GPL.* and of its translator: leave it out"):
        strict.cleared("en")


def test_settings_of_the_item_come_before_those_of_the_block():
    block = {"sample": 7, "encoder": "use-multilingual", "threads": 1}
    first = {**ITEM, "name": "First", "sample": 9}
    second = {**ITEM, "from": ["Europarl"], "encoder": "results/other/model", "translator": "ready"}
    model = made(first, second, backtranslate=block).model("en")
    one, two = (part.translation for part in model.parts)
    assert one == {"translator": "fr-en", "encoder": "use-multilingual", "sample": 9, "threads": 1}
    assert (two["encoder"], two["sample"]) == ("results/other/model", 7)
    assert model.differences["corpora.First.backtranslate.sample"] == 9
    assert not [key for key in model.differences if key.endswith("threads")]


def test_the_config_of_such_a_model_has_its_translator_and_what_that_needs():
    found = made({**ITEM, "from": ["Bible"], "encoder": "use-multilingual"})
    alone = resolved(found, "en")
    assert alone["translators"] == {"fr-en": TRANSLATORS["fr-en"]}
    assert set(alone["models"]) == {"en", "fr"} and set(alone["corpora"]) == {"Bible", "Europarl"}
    assert Config(alone).model("en") == found.model("en")
    assert "translators" not in resolved(found, "fr")


def test_a_plan_counts_the_sample(tmp_path):
    item = {**ITEM, "from": ["Bible"], "encoder": "use-multilingual", "sample": 1000}
    assert "pairs: 20,000 read, about 940 trained on" in plan(made(item), "en", tmp_path)


@pytest.mark.parametrize(
    ("item", "words"),
    [
        ({"through": None}, "translated en: has no `through`; write e.g. `through: fr`"),
        ({"from": None}, "translated en: has no `from`"),
        ({"translator": None}, "translated en: has no `translator`; write e.g. `translator: fr-en`"),
        ({"translator": "fr-em"}, "fr-em is not a translator of the config; did you mean fr-en?"),
        ({"translator": "de-en"}, "translated en: de-en translates de to en, not fr to en; name another translator"),
        ({"through": "en"}, "through en, the same language"),
        ({"translated": "de"}, "translated de: de is not in models.en.languages; add it"),
        ({"max_group": 3}, "max_group is not for translated pairs; leave it out"),
        ({"mined": "en"}, "mined en: translated is not for mined pairs"),
        ({"from": ["Bible"]}, "translated en: has no `encoder`, which scores each pair"),
        ({"from": ["Bible", "Bible"]}, "Bible.fr-en is in `from` twice"),
        (
            {"encoder": "results/en/model"},
            "encoder is results/en/model, which is trained on these very pairs, a cycle",
        ),
    ],
)
def test_a_wrong_item_is_one_line(item, words):
    merged = {key: value for key, value in {**ITEM, **item}.items() if value is not None}
    assert words in refused(merged)


def test_no_bitext_and_circles():
    assert "no corpus of `from` is bitext of en and fr" in message(
        models=models(ITEM) | {"fr": {"languages": ["de", "en"], "corpora": ["Bible"]}}, corpora=CATALOGUE,
        translators=TRANSLATORS | {"fr-en": {"languages": ["fr", "en"], "command": "cat"}},
    )  # fmt: skip
    circle = TRANSLATORS | {"fr-en": {"languages": ["fr", "en"], "from": {"model": "en"}}}
    item = {**ITEM, "from": ["Bible"], "encoder": "use-multilingual"}
    assert "translator fr-en is trained on en in turn; break the cycle" in refused(item, translators=circle)
