import datetime
import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from psp.config.blocks.fields import RECIPES
from psp.config.blocks.overlay import merge
from psp.config.config import Config
from psp.config.plan import plan
from psp.core.errors import ConfigError

ROOT = Path(__file__).parents[2]
CORPORA = {
    "Europarl": {"version": "v8", "pairs": {"en-fr": 10}},
    "News": {"version": "v1", "names": {"zh": "zh_cn"}, "cap": 5},
    "Para": {
        "kind": "paranmt",
        "version": "v2",
        "filters": {"length": {"min": 5, "max": 40}, "score": {"enabled": True}},
        "recipes": {"code": {"filters": {"length": {"sides": "average"}}}},
    },
}


def config(models=None, **top) -> Config:
    models = {"fr": {"languages": ["en", "fr"], "corpora": ["Europarl"]}} if models is None else models
    return Config({"corpora": CORPORA, "models": models, **top})


def message(**top) -> str:
    with pytest.raises(ConfigError) as caught:
        config(**top)
    text = str(caught.value)
    assert "\n" not in text and len(text) < 600
    return text


def fr(**entry):
    return {"fr": {"languages": ["en", "fr"], "corpora": ["Europarl"], **entry}}


def test_nothing_of_the_demo_comes_from_the_network():
    demo = Config.load([ROOT / "config/config.yaml", ROOT / "config/demo.yaml"])
    remotes = [demo.remote(name) for name in demo.downloads(demo.model("demo"))]
    assert not any(mirror.startswith("http") for remote in remotes for mirror in remote.mirrors)


def test_a_value_comes_from_default_recipe_top_level_extended_and_own_entry():
    models = {
        "fr": {"languages": ["en", "fr"], "corpora": ["Europarl"], "train": {"dropout": 0.1, "epochs": 3}},
        "fr-wide": {"extends": "fr", "train": {"dim": 300, "epochs": 4}},
        "fr-paper": {"extends": "fr", "recipe": "paper"},
        "fr-code": {"extends": "fr", "recipe": "code", "train": {"directions": "source"}},
    }
    checked = config(models, train={"batch_size": 64})
    assert checked.model("fr")["train"]["learning_rate"] == 0.05
    assert {checked.model(name)["train"]["learning_rate"] for name in ("fr-paper", "fr-code")} == {0.001}
    assert checked.model("fr")["train"]["batch_size"] == 64
    wide = checked.model("fr-wide")["train"]
    assert (wide["dropout"], wide["dim"], wide["epochs"]) == (0.1, 300, 4)
    assert checked.model("fr-wide").languages == ("en", "fr")
    assert checked.model("fr")["train"]["directions"] == "both"
    assert checked.model("fr-paper")["train"]["directions"] == "source"
    assert checked.model("fr-paper")["filters"]["language"]["enabled"] is False
    assert checked.model("fr-code")["filters"]["length"]["sides"] == "source"
    assert checked.model("fr-code")["store"]["max_pieces"] == 100
    # Only what departs from the recipe itself is a difference.
    assert checked.model("fr-code").differences == {
        "train.directions": "source", "train.dropout": 0.1, "train.epochs": 3, "train.batch_size": 64,
    }  # fmt: skip


def test_what_trains_no_other_model_is_no_difference_from_the_recipe():
    written = {"log_every": 7, "checkpoint": {"minutes": 3.5}, "threads": 3}
    said = {"filters": {"warn_share": 0.5}, "mix": {"warn_pairs": 9}}
    corpora = [{"name": "Europarl", "filters": {"warn_share": 1}}]
    checked = config({"fr": {"languages": ["en", "fr"], "corpora": corpora, "train": written, **said}})
    assert checked.model("fr").parts[0].filters["warn_share"] == 1
    assert checked.model("fr")["train"]["checkpoint"] == {"minutes": 3.5, "steps": None, "keep": 2}
    assert checked.model("fr").differences == {"train.threads": 3}  # in the last digits


def test_a_grid_changes_the_model_where_its_best_point_is_taken():
    grid = {"margin": [0.3, 0.4], "epochs": [1]}
    models = {
        "fr": {
            "languages": ["en", "fr"], "corpora": ["Europarl"], "seed": 7,
            "train": {"dropout": 0.2, "margin": 0.5}, "variants": {"grid": grid},
        },
        "fr-tuned": {"extends": "fr", "train": {"settings_from": "variants"}},
        "fr-wider": {"extends": "fr-tuned", "recipe": "code", "variants": {"grid": {"dropout": [0.1, 0.2]}}},
        "fr-plain": {"extends": "fr", "variants": {"grid": None}},
    }  # fmt: skip
    checked = config(models)
    searched, tuned, wider = (checked.model(name) for name in ("fr", "fr-tuned", "fr-wider"))
    assert searched.differences == {"train.dropout": 0.2, "train.margin": 0.5} and searched.tuned == {}
    assert checked.model("fr-plain").points == {}
    # The margin will be that of the best point, not the config's; what has one value is for the points alone.
    assert tuned.tuned == {"margin": 0.3} and tuned["train"]["epochs"] == 6
    assert tuned.differences == {"train.dropout": 0.2, "train.settings_from": "variants"}
    assert {name: (train["margin"], train["epochs"]) for name, train in tuned.points.items()} == {
        "margin=0.3": (0.3, 1), "margin=0.4": (0.4, 1),
    }  # fmt: skip
    assert wider.tuned == {"margin": 0.4, "dropout": 0} and len(wider.points) == 4
    point = checked.variant("fr-tuned", "margin=0.4")
    assert (point["train"]["settings_from"], point.tuned, tuned.variants["margin=0.4"].seeds) == (None, {}, (7,))


def test_the_comment_of_the_config_gives_the_papers_search_for_every_bilingual_model():
    text = (ROOT / "config/config.yaml").read_text()
    line = re.search(r"^# (fr-paper: .*)$", text, re.MULTILINE)[1]
    base = yaml.safe_load(text)
    (model,) = yaml.safe_load(line).values()
    for name in ("ar", "de", "es", "fr", "ru", "tr", "zh"):
        found = Config({**base, "models": {**base["models"], "own": {**model, "extends": name}}}).model("own")
        assert len(found.points) == 9 and found.tuned == {"dropout": 0, "megabatch": 60}
        assert all(train["objective"] == "margin" for train in found.points.values())
    for recipe in RECIPES:  # which no recipe alone has
        assert Config({**base, "recipe": recipe}).model("fr").tuned == {}


def test_a_model_is_chosen_by_english_sts_pairs_where_it_has_english_alone():
    own = {"languages": ["de", "fr"], "corpora": ["News"]}
    models = {
        "de-fr": own,
        "es-fr": {**own, "languages": ["es", "fr"]},
        "paper": {**own, "recipe": "paper", "development": {"heldout": 2000}},
        "file": {**own, "development": {"sts": "mine.tsv"}},
        "all": {"languages": ["de", "en", "fr"], "corpora": [{"name": "News", "languages": ["de", "fr"]}]},
        "named": {**fr()["fr"], "development": {"sts": "semeval2017-en"}},
        "none": {**fr()["fr"], "development": {"sts": None}},
    }
    checked = config(models)
    chosen = {name: checked.model(name)["development"]["sts"] for name in models}
    assert chosen == {
        "de-fr": None, "es-fr": None, "paper": None, "file": "mine.tsv",
        "all": "semeval2017-en", "named": "semeval2017-en", "none": None,
    }  # fmt: skip
    # What follows from the languages is no difference from the recipe.
    assert checked.model("de-fr").differences == checked.model("named").differences == {}
    assert checked.model("none").differences == {"development.sts": None}
    # Of the archive of STS sets, nothing is in German and French, and SemEval-2017 has Spanish.
    archives = {name: "sts/STS.zip" in checked.downloads(checked.model(name)) for name in models}
    assert archives == dict.fromkeys(models, True) | {"de-fr": False, "paper": False, "file": False}
    assert checked.downloads(checked.model("de-fr")) == ["opus/News/v1/de-fr.txt.zip", "lid/lid.176.ftz"]
    # As in the paper, nothing is held out; without English, nothing is left to choose the best epoch by.
    assert config(fr(recipe="paper")).model("fr")["development"]["heldout"] == 0
    assert "write e.g. `development: {heldout: 2000}`" in message(models={"paper": {**own, "recipe": "paper"}})
    own["development"] = {"sts": "semeval2017-en"}
    assert "development: {sts: null}" in message(models={"de-fr": own})


def test_segmentation_is_filled_in_by_language_and_recipe():
    models = {"zh": {"languages": ["en", "zh"], "corpora": ["News"]}}
    assert config(models).model("zh")["segment"]["zh"] == {"segmenter": "jieba", "cut_all": False, "inference": True}
    code = config(models, recipe="code").model("zh")
    assert code["segment"]["zh"] == {"segmenter": "jieba", "cut_all": True, "inference": False}
    assert code.differences == {}
    own = config({"zh": {**models["zh"], "segment": {"th": {"segmenter": "jieba"}}}}).model("zh")["segment"]
    assert own["th"] == {"segmenter": "jieba", "cut_all": False, "inference": True}
    assert config({"zh": {**models["zh"], "segment": {"zh": None}}}).model("zh")["segment"] == {}


def test_a_pair_has_another_release_and_two_releases_are_two_corpora_of_one_model(tmp_path):
    (tmp_path / "pins.yaml").write_text("opus/Bible/ubg2018/en-pl.txt.zip: {bytes: 5, sha256: abc}\n")
    corpora = {
        "Bible": {
            "version": "ebible2022",
            "versions": {"en-pl": "ubg2018"},
            "licence": "CC0-1.0",
            "licences": {"en-pl": None},
            "pairs": {"de-en": 30, "en-pl": 20},
        },
        "BibleGdanska": {
            "opus": "Bible",
            "version": "gdanska1881",
            "licence": "MIT",
            "mirrors": ["/m/{corpus}-{version}"],
        },
    }
    models = {
        "de": {"languages": ["en", "de"], "corpora": ["Bible"]},
        "pl": {"languages": ["en", "pl"], "corpora": ["Bible", "BibleGdanska"]},
    }
    checked = config(models, corpora=corpora, pins=str(tmp_path / "pins.yaml"), licences={"allow": ["CC0-1.0"]})
    assert [(part.label, part.version, part.download) for name in models for part in checked.model(name).parts] == [
        ("Bible.en-de", "ebible2022", "opus/Bible/ebible2022/de-en.txt.zip"),
        ("Bible.en-pl", "ubg2018", "opus/Bible/ubg2018/en-pl.txt.zip"),
        ("BibleGdanska.en-pl", "gdanska1881", "opus/Bible/gdanska1881/en-pl.txt.zip"),
    ]
    de, ubg, gdanska = (checked.remote(part.download) for name in models for part in checked.model(name).parts)
    assert [remote.licence for remote in (de, ubg, gdanska)] == ["CC0-1.0", None, "MIT"]
    assert [remote.bytes for remote in (de, ubg, gdanska)] == [None, 5, None]
    assert gdanska.mirrors == ("/m/Bible-gdanska1881",) and ubg.mirrors[0].startswith("https://")
    assert checked.cleared("de")
    with pytest.raises(ConfigError, match="Bible declares no licence"):
        checked.cleared("pl")


def test_one_archive_under_two_names_is_fetched_once_and_has_one_licence():
    corpora = {"News": {"version": "v1"}, "Short": {"opus": "News", "version": "v1", "filters": {"length": {"max": 9}}}}
    models = {"fr": {"languages": ["en", "fr"], "corpora": ["News", "Short"]}}
    checked = config(models, corpora=corpora)
    archive = "opus/News/v1/en-fr.txt.zip"
    assert [name for name in checked.downloads(checked.model("fr")) if name.startswith("opus/")] == [archive]
    assert checked.remote(archive).licence is None
    corpora["Short"]["licence"] = "MIT"
    with pytest.raises(ConfigError, match=f"News and Short are the same archive, {archive}, but differ in licence"):
        config(models, corpora=corpora).remote(archive)
    corpora["Short"]["pairs"] = {"de-en": 1}  # whose it is says who counts it; without a count, both
    assert config(models, corpora=corpora).remote(archive).licence is None
    corpora["News"]["pairs"] = {"en-pl": 1}
    with pytest.raises(ConfigError, match="or count this pair in the `pairs` of one"):
        config(models, corpora=corpora).remote(archive)
    corpora["Short"]["licence"] = None
    corpora["News"]["mirrors"] = corpora["Short"]["mirrors"] = ["/m"]
    assert config(models, corpora=corpora).remote(archive).mirrors == ("/m",)


def test_a_corpus_has_its_own_filters_over_the_models():
    models = {
        "fr": {"languages": ["en", "fr"], "corpora": ["Europarl", {"name": "Para", "languages": ["en", "en"]}],
               "filters": {"length": {"min": 2, "max": 50}, "language": {"other": 0.5}}},
        "en": {"languages": ["en"], "corpora": ["Para"]},
        "own": {"languages": ["en"], "corpora": [{"name": "Para", "filters": {"length": {"max": 9}}}]},
        "code": {"extends": "en", "recipe": "code"},
    }  # fmt: skip
    checked = config(models)
    europarl, para = checked.model("fr").parts
    assert (europarl.paraphrase, para.paraphrase) == (False, True)
    assert (para.label, para.download) == ("Para.en-en", "paranmt/Para/v2.zip")
    assert europarl.filters == checked.model("fr")["filters"]
    assert europarl.filters["length"]["min"] == 2 and not europarl.filters["score"]["enabled"]
    assert {key: para.filters["length"][key] for key in ("min", "max", "sides")} == {
        "min": 5,
        "max": 40,
        "sides": "both",
    }
    assert para.filters["language"]["other"] == 0.5
    assert para.filters["score"] == {"enabled": True, "min": 0.4, "max": 1.0}
    assert checked.model("own").parts[0].filters["length"]["max"] == 9
    (code,) = checked.model("code").parts
    assert code.filters["length"]["sides"] == "average" and code.filters["length"]["max"] == 40
    # What a corpus does otherwise than its model is told in eval.json.
    assert checked.model("code").differences == {
        "corpora.Para.filters.length.min": 5,
        "corpora.Para.filters.length.max": 40,
        "corpora.Para.filters.length.sides": "average",
        "corpora.Para.filters.score.enabled": True,
    }


@pytest.mark.parametrize("pairs", [{}, {"pairs": {"en-en": 10}}])
def test_an_archive_that_holds_one_pair_has_its_entrys_mirrors_and_licence(pairs):
    para = {"kind": "paranmt", "version": "v1", "mirrors": ["file:///here.zip"], "licence": "MIT", **pairs}
    made = config({"en": {"languages": ["en"], "corpora": ["Mine"]}}, corpora={**CORPORA, "Mine": para})
    (name,) = [name for name in made.downloads(made.model("en")) if name.startswith("paranmt/")]
    assert (made.remote(name).mirrors, made.remote(name).licence) == (("file:///here.zip",), "MIT")


def test_short_lines_are_kept_but_by_the_papers_recipes():
    base = ROOT / "config/config.yaml"
    least = {
        recipe: {part.filters["length"]["min"] for part in Config.load([base], {"recipe": recipe}).model("fr").parts}
        for recipe in ("psp", "distilled", "paper", "code", "paranmt")
    }
    assert least == {"psp": {1}, "distilled": {1}, "paper": {3}, "code": {3}, "paranmt": {3}}


def test_the_papers_english_model():
    base = ROOT / "config/config.yaml"
    for recipe, sides in (("psp", "both"), ("paper", "both"), ("code", "average")):
        model = Config.load([base], {"recipe": recipe}).model("en")
        (part,) = model.parts
        assert part.paraphrase and part.filters["length"] == {
            "enabled": True, "min": 5, "max": 40, "sides": sides, "tokens": "spaces"
        }  # fmt: skip
        assert part.filters["language"]["enabled"] and part.filters["language"]["sides"] == "both"
        assert part.filters["score"] == {"enabled": True, "min": 0.4, "max": 1.0}
        assert (model["train"]["megabatch"], model["train"]["dropout"], model["store"]["max_pieces"]) == (100, 0, None)
        assert model["filters"]["lower_case"] is True
    (part,) = Config.load([base], {"recipe": "paranmt"}).model("en").parts
    assert part.filters["length"] == {"enabled": True, "min": 3, "max": 30, "sides": "both", "tokens": "spaces"}
    assert not part.filters["overlap"]["enabled"]


def test_a_model_can_take_over_the_corpora_of_others():
    models = {
        "fr": {"languages": ["en", "fr"], "corpora": ["Europarl", {"path": "a.tsv", "cap": 7}], "train": {"epochs": 9}},
        "en": {"languages": ["en"], "corpora": ["Para"]},
        "both": {
            "languages": ["en", "fr"],
            "corpora": [{"model": "fr", "cap": 100, "filters": {"length": {"max": 9}}}, {"model": "en"}],
        },
        "all": {"languages": ["fr", "en"], "corpora": [{"model": "both"}]},
    }
    checked = config(models)
    for name in ("both", "all"):
        parts = checked.model(name).parts
        assert [part.label for part in parts] == ["Europarl.en-fr", "a.en-fr", "Para.en-en"]
        assert [part.paraphrase for part in parts] == [False, False, True]
        assert [part.cap for part in parts] == [100, 100, None]
        assert [part.filters["length"]["max"] for part in parts[:2]] == [9, 9]
        assert parts[2].filters["score"]["enabled"]  # the catalogue's, as in the model that it is taken from
    assert checked.model("both")["train"]["epochs"] == 6  # corpora, and nothing else


def test_a_file_of_ones_own_is_a_corpus(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "here.tsv").touch()
    items = [
        {"path": "data/Meine Sätze.v2.tsv.gz"},
        {"path": "here.tsv", "name": "Mine", "languages": ["fr", "de"], "cap": 3, "filters": {"length": {"max": 7}}},
        {"path": "results/made/x.txt", "licence": "MIT"},
    ]
    model = config({"de": {"languages": ["de", "fr"], "corpora": items}}).model("de")
    assert [part.label for part in model.parts] == ["Meine-S-tze.v2-25f591.de-fr", "Mine.fr-de", "x.de-fr"]
    assert [part.kind for part in model.parts] == ["local"] * 3
    assert [part.path for part in model.parts] == [item["path"] for item in items]
    assert model.parts[1].cap == 3 and model.parts[1].filters["length"]["max"] == 7
    assert [part.download for part in model.parts] == [None] * 3
    assert config().absent(model) == ["data/Meine Sätze.v2.tsv.gz"]  # what is under results/ may still be made
    english = config({"en": {"languages": ["en"], "corpora": [{"path": "here.tsv"}]}}).model("en")
    assert english.parts[0].paraphrase
    assert not [name for name in config().downloads(english) if "here" in name]


@pytest.mark.parametrize(
    ("top", "words"),
    [
        ({"trian": {}}, ["trian", "did you mean train?"]),
        ({"train": {"dropuot": 0.1}}, ["train.dropuot", "did you mean dropout?"]),
        ({"train": {"dropout": 1.5}}, ["train.dropout", "1.5", "below 1", "`dropout: 0`"]),
        ({"train": {"epochs": "three"}}, ["train.epochs", "three", "a whole number", "`epochs: 6`"]),
        ({"train": {"directions": "all"}}, ["train.directions", "all", "both or source"]),
        ({"models": fr(train={"margin": -1})}, ["models.fr.train.margin", "at least 0"]),
        ({"models": fr(languages=["en", "zh_CN"])}, ["models.fr.languages.1: zh_CN is not psp's code", "write zh;"]),
        ({"models": fr(languages=["en", "zho"])}, ["models.fr.languages: zho is", "write zh;", "`names: {zh: zho}`"]),
        ({"models": fr(), "translators": {"t": {"languages": ["ger", "en"], "command": "cat"}}},
         ["translators.t.languages: ger is not psp's code for German; write de"]),
        ({"models": fr(corpora=["Europarl", "Europarl"])}, ["models.fr.corpora", "Europarl.en-fr", "twice"]),
        ({"models": fr(corpora=[3])}, ["models.fr.corpora.0", "3"]),
        ({"models": fr(languages=["English"])}, ["models.fr.languages.0", "English"]),
        ({"models": fr(corpora=[{"path": "a.tsv", "name": "a/b"}])}, ["models.fr.corpora.0.name", "a/b"]),
        ({"models": fr(corpora=[{"model": "de"}])}, ["models.fr.corpora: de is not a model of the config"]),
        ({"models": fr(corpora=[{"model": "fr"}])}, ["fr takes its corpora from fr in turn", "cycle"]),
        ({"models": {**fr(), "a": {"languages": ["en", "fr"], "corpora": [{"model": "fr", "name": "x"}]}}},
         ["models.a.corpora", "takes its name from that model", "leave it out"]),
        ({"models": {**fr(), "a": {"languages": ["en", "de"], "corpora": [{"model": "fr"}]}}},
         ["models.a.corpora", "Europarl", "fr", "models.a.languages"]),
        ({"corpora": {"A": {"version": "v1", "versions": {"pl-en": "v2"}}}},
         ["corpora.A.versions: pl-en", "alphabetical", "write en-pl"]),
        ({"corpora": {"A": {"version": "v1", "versions": {"en-pl": "../v2"}}}}, ["corpora.A.versions.en-pl", "../v2"]),
        ({"corpora": {"A": {"version": "v1", "opus": "a/b"}}}, ["corpora.A.opus", "a/b"]),
        ({"models": fr(variants={"grid": {"threads": [1, 2]}})}, ["grid.threads is not a key", "may hold epochs"]),
        ({"models": fr(variants={"grid": {"dropout": [0, 1.5]}})}, ["grid.dropout.1 is 1.5", "`dropout: [0]`"]),
        ({"models": fr(variants={"grid": {"megabatch": []}})}, ["variants.grid.megabatch", "at least 1 item"]),
        ({"models": fr(variants={"grid": {"megabatch": 60}})}, ["variants.grid.megabatch is 60", "a list"]),
        ({"models": fr(variants={"grid": {"dropout": [0.1, 0, 0.0]}})}, ["grid.dropout", "has a duplicate item"]),
        ({"models": fr(variants={"grid": {"epochs": [2]}})}, ["models.fr.variants.grid", "no key has several values"]),
        ({"models": fr(variants={"grid": {"megabatch": [1, 2]}})}, ["variants.grid.megabatch", "does not use"]),
        ({"train": {"settings_from": "variants"}}, ["models.fr.variants.grid: is not there", "`variants: {grid: {"]),
        ({"train": {"checkpoint": {"minutes": 0}}}, ["train.checkpoint.minutes is 0", "above 0", "`minutes: 10`"]),
        ({"models": fr(variants={"grid": {"scale": [1, 2]}}, development={"sts": None, "heldout": 0})},
         ["models.fr.development", "`variants: {grid: ...}` chooses", "`development: {heldout: 2000}`"]),
        ({"models": fr(extends="de")}, ["models.fr.extends", "de", "is not a model"]),
        ({"models": fr(extends="fr")}, ["cycle"]),
        ({"models": {"downloads": fr()["fr"]}}, ["models.downloads", "not a usable name"]),
        ({"models": {"a/b": fr()["fr"]}}, ["models.a/b"]),
        ({"models": {"fr": {"corpora": ["Europarl"]}}}, ["models.fr", "languages: [en, fr]"]),
        ({"models": {"fr": {"languages": ["en", "fr"]}}}, ["models.fr", "corpora: [Europarl]"]),
        # Names that become folders.
        *(({"corpora": {**CORPORA, name: {"version": "v1"}}}, [f"corpora: {name} is not a usable name"])
          for name in ("../x", "a/b", "..", ".x")),
        ({"corpora": {**CORPORA, "A": {"version": ".."}}}, ["corpora.A.version is ..", "a letter or digit first"]),
        ({"corpora": {**CORPORA, "A": {"version": "v1", "names": {"fr": "../x"}}}}, ["corpora.A.names.fr is ../x"]),
        ({"sources": {"tatoeba": {"version": ".."}}}, ["sources.tatoeba.version is ..", "`version: v1`"]),
        # Keys that are elsewhere.
        ({"filters": {"near_duplicates": {}}}, ["filters.near_duplicates is not a key; it is mix.near_duplicates;"]),
        ({"dedupe": {"near_duplicates": {}}}, ["dedupe is not a key; near_duplicates is mix.near_duplicates;"]),
        ({"models": fr(near_duplicates={})}, ["models.fr.near_duplicates", "it is models.fr.mix.near_duplicates;"]),
        ({"models": fr(dropout=0.1)}, ["models.fr.dropout is not a key; it is models.fr.train.dropout;"]),
        ({"train": {"vocab_szie": 8000}}, ["did you mean subword.vocab_size?"]),
        ({"languages": ["en", "fr"]}, ["languages is not a key; it is", " or models.<name>.languages;"]),
        ({"train": {"licence": "MIT"}}, ["it is corpora.<name>.licence;"]),
        # What YAML reads otherwise than it looks.
        ({"models": {1: fr()["fr"]}}, ["models: the name 1 is a number in YAML", 'write "1"']),
        ({"models": {False: fr()["fr"]}}, ["models: the name false is YAML's no", 'write "no"']),
        ({"corpora": {**CORPORA, "A": {"version": "v1", "names": {False: "nb"}}}}, ["corpora.A.names", 'write "no"']),
        ({"models": fr(languages=[False, "fr"])}, ["models.fr.languages.0 is false", '`languages: ["no"]`']),
        ({"corpora": {**CORPORA, "A": {"version": 2019}}}, ["corpora.A.version is 2019", '`version: "2019"`']),
        ({"corpora": {**CORPORA, "A": {"version": datetime.date(2020, 1, 2)}}}, ["a date", '`version: "2020-01-02"`']),
        ({"models": fr(variants={"grid": {"learning_rate": ["1e-2"]}})},
         ["grid.learning_rate.0", "`learning_rate: [0.01]`"]),
        ({"corpora": {**CORPORA, "A": {"version": "v1", "cap": "1e6"}}}, ["corpora.A.cap", "`cap: 1000000`"]),
        ({"train": {"epochs": 6.0}}, ["train.epochs is 6.0", "a whole number", "`epochs: 6`"]),
        # JSON has no such numbers, and no range leaves out NaN.
        ({"train": {"learning_rate": math.nan}}, ["train.learning_rate is .nan", "a finite number"]),
        ({"train": {"clip": math.inf}}, ["train.clip is .inf", "a finite number"]),
        ({"train": {"epochs": 10**400}}, ["train.epochs is a number of 401 digits", "64 bits"]),
        ({"train": {"seed": -(2**63) - 1}}, ["train.seed is a number of 19 digits", "64 bits"]),
        ({"models": fr(variants={"grid": {"scale": [1, -math.inf]}})}, ["models.fr.variants.grid.scale.1 is -.inf"]),
    ],
)  # fmt: skip
def test_a_wrong_config_gives_one_line_that_says_what_to_write(top, words):
    text = message(**top)
    for word in words:
        assert word in text, text


@given(value=st.floats(1e-9, 1e9))
def test_a_number_that_yaml_reads_as_text_is_told_as_it_must_be_written(value):
    text = f"{value:e}".replace("+", "").replace(".", "")  # without a point, YAML 1.1 knows no exponent
    told = message(train={"scale": text}).rpartition("write `")[2].removesuffix("`")
    assert yaml.safe_load(text) == text
    assert yaml.safe_load(told) == {"scale": float(text)}


def test_a_strange_language_is_told_but_may_be_used():
    codes = ["qq", "pcm", "zu", "yo", "no", "yue"]  # these last four are known
    models = {code: {"languages": ["en", code], "corpora": ["News"]} for code in codes}
    checked = config(models)
    notes = [note for name in models for note in checked.notices(checked.model(name)) if "languages: " in note]
    assert [note.split(": ")[1].split(", ")[0] for note in notes] == [
        "qq is not a language code that psp knows; it selects test sets and OPUS archives",
        "pcm is taken for an ISO 639-3 code",
    ]


def test_ones_own_folder_is_filled_in_in_mirrors_and_paths(monkeypatch, tmp_path):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("PSP_SETS", "/sets")
    monkeypatch.setenv("PSP_MIRROR", "~/mirror")  # as a shell leaves it in quotes
    (tmp_path / "mirror").mkdir()
    (tmp_path / "pins.yaml").write_text("opus/Europarl/v8/en-fr.txt.zip: {bytes: 5, sha256: abc}\n")
    models = fr(
        corpora=["Europarl", "News", {"path": "~/my.tsv"}],
        evaluate={"files": {"own": "~/a.tsv", "other": "${PSP_SETS}/b.tsv"}},
        development={"sts": "~/dev.tsv"},
        train={"init_from": "~/model"},
    )
    models["fr"]["languages"] = ["en", "fr"]
    sources = {"opus": {"mirrors": ["file://~/{corpus}", "~/{corpus}", "${PSP_MIRROR}/a~/x", "https://host/~/y"]}}
    checked = config(models, sources=sources, pins="~/pins.yaml")
    remote = checked.remote("opus/Europarl/v8/en-fr.txt.zip")
    home = str(tmp_path)
    assert remote.mirrors == (f"file://{home}/Europarl", f"{home}/Europarl", f"{home}/mirror/a~/x", "https://host/~/y")
    assert remote.bytes == 5
    model = checked.model("fr")
    assert model.parts[2].path == f"{home}/my.tsv" and model.parts[2].label == "my.en-fr"
    assert model["evaluate"]["files"] == {"own": f"{home}/a.tsv", "other": "/sets/b.tsv"}
    assert model["development"]["sts"] == f"{home}/dev.tsv" and model["train"]["init_from"] == f"{home}/model"


def test_a_config_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ConfigError, match=r"nowhere\.yaml"):
        Config.load([tmp_path / "nowhere.yaml"])


nested = st.recursive(
    st.integers() | st.lists(st.integers(), max_size=2),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner, max_size=3),
    max_leaves=8,
)
mappings = st.dictionaries(st.sampled_from("abc"), nested, max_size=3)


@given(mappings, mappings)
def test_merging_agrees_with_snakemake(base, top):
    import copy

    from snakemake.utils import update_config

    # Snakemake's own merge cannot put a mapping where a list was; it replaces it, as ours does.
    expected = copy.deepcopy(base)
    update_config(expected, copy.deepcopy(top))
    before = copy.deepcopy((base, top))
    assert merge(base, top) == expected
    assert (base, top) == before


# --- languages that cannot be identified ----------------------------------------------------------------------------


def xhosa(**filters):
    return {"xh": {"languages": ["en", "xh"], "corpora": [{"path": "my.tsv"}], "filters": {"language": filters}}}


def test_a_language_that_cannot_be_identified_is_told_and_is_no_error():
    checked = config(models=xhosa(identifier="lid176"))
    (notice,) = checked.notices(checked.model("xh"))
    assert "models.xh" in notice and "'xh'" in notice
    assert not config().notices(config(models=xhosa()).model("xh"))  # py3langid knows it
    assert not config(models=xhosa(enabled=False)).notices(config(models=xhosa(enabled=False)).model("xh"))
    assert not config().notices(config().model("fr"))


def test_the_top_label_of_a_language_without_one_is_an_error_before_anything_is_fetched():
    text = message(models=xhosa(method="top"))
    assert "has no label for 'xh'" in text and "method: evidence" in text
    config(models=xhosa(method="top", sides="source"))
    entry = xhosa(identifier="py3langid")["xh"]
    text = message(models={"ast": entry | {"languages": ["en", "ast"]}})
    assert "does not know 'ast'" in text and "identifier: both" in text


def test_each_recipe_has_its_way_to_identify_languages():
    for recipe, method in (("psp", "evidence"), ("paper", "top"), ("code", "top")):
        checked = config(models=fr(recipe=recipe, corpora=[{"name": "Para", "languages": ["en", "en"]}]))
        (part,) = checked.model("fr").parts
        assert part.filters["language"]["method"] == method


def test_an_encoder_has_its_own_settings() -> None:
    models = fr(encoder="trigram", variants={"ours": {"recipe": "psp", "epochs": 1}}, vocabulary={"min_count": 3})
    models |= {"w": {"extends": "fr", "encoder": "word"}, "s": {"extends": "fr", "encoder": "subword"}}
    made = config(models)
    trigrams, words, subwords = (made.model(name) for name in ("fr", "w", "s"))
    assert [model.encoder for model in (trigrams, words, subwords)] == ["trigram", "word", "subword"]
    assert trigrams["vocabulary"] == {"size": 200_000, "min_count": 3, "split": "letters"}
    assert [model["train"]["init_spelling"] for model in (trigrams, words, subwords)] == [0, 0.9, 0.9]
    assert trigrams.variants["ours"].train["init_spelling"] == made.variant("fr", "ours")["train"]["init_spelling"] == 0
    assert trigrams.differences == {"encoder": "trigram", "vocabulary.min_count": 3}
    assert words.differences == {"encoder": "word", "vocabulary.min_count": 3}
    assert subwords.differences == {}  # what a model does not use makes no difference
    assert (words.most_rows, subwords.most_rows) == (200_001, 50_000)
    assert config().model("fr").encoder == "subword"


def test_the_recipe_of_paranmt_splits_words_at_spaces_and_a_plan_names_it() -> None:
    own = {"languages": ["en"], "corpora": ["Para"], "recipe": "paranmt", "filters": {"score": {"enabled": True}}}
    made = config({"word": {**own, "encoder": "word"}})
    assert made.model("word")["vocabulary"] == {"size": 200_000, "min_count": 1, "split": "whitespace"}
    assert "recipe paranmt" in plan(made, "word", "downloads")
    assert made.model("word").differences.keys() == {
        "encoder", "filters.score.enabled", "corpora.Para.filters.length.min", "corpora.Para.filters.length.max",
    }  # fmt: skip


def test_an_lstm_reads_words_or_subwords() -> None:
    models = fr(encoder="blstm", lstm={"width": 30, "combine": "concat"})
    models |= {
        "s": {"extends": "fr", "encoder": "lstm", "lstm": {"over": "subword"}},
        "m": {"extends": "fr", "encoder": "word"},
    }
    words, subwords, mean = (config(models).model(name) for name in ("fr", "s", "m"))
    assert [model.tokens for model in (words, subwords, mean)] == ["word", "subword", "word"]
    assert words.contextual == {
        "kind": "blstm", "width": 30, "combine": "concat", "pooling": "mean", "scramble": 0.3, "learning_rate": 0.003,
        "clip": 1, "precision": "float32",
    }  # fmt: skip
    assert subwords.contextual is not None and subwords.contextual["kind"] == "lstm" and mean.contextual is None
    assert (words.most_rows, subwords.most_rows) == (200_001, 50_000)
    assert words.differences == {"encoder": "blstm", "lstm.width": 30, "lstm.combine": "concat"}
    assert mean.differences == {"encoder": "word"}  # which has no use for the block


def test_word_vectors_are_downloads(tmp_path) -> None:
    sha256 = "ab" * 32
    vectors = {"small": {"mirrors": [f"file://{tmp_path}/v.gz"], "sha256": sha256, "licence": "CC0-1.0"}}
    made = config(fr(encoder="word", train={"init_vectors": "small"}), vectors=vectors)
    (name,) = [name for name in made.downloads(made.model("fr")) if name.startswith("vectors/")]
    assert name == made.init_vectors(made.model("fr")) == "vectors/small.abababababab.txt.gz"
    remote = made.remote(name)
    assert (remote.mirrors, remote.sha256, remote.licence) == ((f"file://{tmp_path}/v.gz",), sha256, "CC0-1.0")
    others = config(fr(encoder="word"), vectors=vectors)
    assert not [name for name in others.downloads(others.model("fr")) if name.startswith("vectors/")]


def test_vectors_of_words_are_for_models_of_words() -> None:
    vectors = {"small": {"mirrors": ["file:///v"], "sha256": "ab" * 32}}
    for encoder, split in (("subword", "subword"), ("trigram", "trigram")):
        text = message(models=fr(encoder=encoder, train={"init_vectors": "small"}), vectors=vectors)
        assert f"small has vectors of words, but this model has {split}s" in text
    both = {"init_vectors": "small", "init_from": "results/de/model"}
    assert "init_from names a model" in message(models=fr(encoder="word", train=both), vectors=vectors)
    short = {"small": {**vectors["small"], "sha256": "abc"}}
    assert "vectors.small.sha256 is abc, but must be 64 hexadecimal digits" in message(vectors=short)


def test_trigrams_do_not_start_from_an_encoder() -> None:
    start = {"init_encoder": "multilingual-e5-small"}
    assert config(fr(train=start)).model("fr")["train"]["init_encoder"] == "multilingual-e5-small"
    text = message(models=fr(encoder="trigram", train=start))
    assert "models.fr.train.init_encoder: `encoder: trigram` has no pieces that an encoder could embed" in text


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            {"encoder": "word", "train": {"init_vectors": "glove"}},
            ["models.fr.train.init_vectors: glove is not in `vectors`", "sha256"],
        ),
        (
            {"encoder": "words"},
            ["models.fr.encoder is words, but must be subword or word or trigram", "encoder: subword"],
        ),
        (
            {"encoder": "trigram", "train": {"init_spelling": 0.6}},
            ["models.fr.train.init_spelling is 0.6, but with `encoder: trigram`", "write `init_spelling: 0`"],
        ),
        (
            {"encoder": "trigram", "variants": {"spelled": {"init_spelling": 0.6}}},
            ["models.fr.variants.spelled.init_spelling is 0.6"],
        ),
        (
            {"encoder": "trigram", "variants": {"grid": {"init_spelling": [0, 0.6]}}},
            ["models.fr.variants.init_spelling=0.6.init_spelling is 0.6"],
        ),
    ],
)
def test_an_encoder_that_cannot_be_is_refused(entry, said) -> None:
    text = message(models=fr(**entry))
    assert all(part in text for part in said), text


def test_all_wrong_keys_are_told_and_the_first_in_full():
    text = message(models=fr(train={"epoch": 3, "dmi": 4}), seeed=1)
    assert "seeed is not a key; did you mean seed?" in text
    assert text.endswith("wrong as well: models.fr.train.epoch, models.fr.train.dmi") and "\n" not in text
    assert "wrong as well" not in message(models=fr(train={"epoch": 3}))


@pytest.mark.parametrize("name", ["A\n", "A" * 101, "A" * 300])
def test_a_name_ends_where_it_ends_and_fits_into_a_folder(name):
    assert "not a usable name" in message(models={name: fr()["fr"]})
    text = message(corpora={name: {"version": "v1"}}, models=fr(corpora=[name]))
    assert "is not a usable name" in text and "\n" not in text
    assert "corpora.A.version is" in message(corpora={"A": {"version": "v1\n"}}, models=fr(corpora=["A"]))


def test_a_config_is_read_without_numpy_and_with_few_modules():
    code = (
        "import sys; from psp.config.config import Config; Config.load(['config/demo.yaml']).cleared('demo'); "
        "print(*(name for name in sys.modules if name.partition('.')[0] in ('psp', 'numpy', 'sentencepiece', 'torch')))"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    names = done.stdout.split()
    assert all(name.partition(".")[0] == "psp" for name in names) and len(names) <= 55, names
