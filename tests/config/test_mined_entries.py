"""Items of a model's corpora that are mined from bitext."""

import pytest

from psp.config.mined_entries import union
from psp.config.plan import plan
from psp.core.errors import ConfigError
from tests.config.test_config import CORPORA, config, fr, message

MINED = {"mined": "en", "through": "fr", "from": ["Europarl"]}
CATALOGUE = {
    **CORPORA,
    "Europarl": {**CORPORA["Europarl"], "licence": "CC0-1.0"},
    "Bible": {"version": "v1", "licence": "CC-BY-4.0 OR MIT", "pairs": {"en-fr": 20, "de-en": 30}},
}
PIVOT = {"pairs": "cover", "max_group": 20, "encoder": None, "min_cosine": None, "own_filters": True}


def english(*items, **entry):
    return {"en": {"languages": ["en"], "corpora": list(items), **entry}}


def test_paraphrases_are_mined_from_corpora_of_the_catalogue():
    both = {**MINED, "from": ["Europarl", {"name": "Bible", "filters": {"ratio": {"max": 2}}}]}
    own = {"filters": {"length": {"min": 2}, "numbers": {"enabled": False}}}
    other = {**MINED, "name": "Few", "cap": 5, "pairs": "all", "max_group": 3, **own}
    made = config(english(both, other), corpora=CATALOGUE).model("en")
    mined, few = made.parts
    assert (mined.kind, mined.label, mined.languages, mined.through) == ("mined", "Mined-fr.en-en", ("en", "en"), "fr")
    assert mined.paraphrase and mined.path is mined.download is None
    assert [source.label for source in mined.sources] == ["Europarl.fr-en", "Bible.fr-en"]
    assert mined.sources[1].filters["ratio"]["max"] == 2 and mined.sources[0].filters["language"]["enabled"]
    assert mined.licence == "(CC-BY-4.0 OR MIT) AND CC0-1.0"
    assert mined.pivot == PIVOT
    length = mined.filters["length"]
    assert (length["min"], length["max"], length["tokens"]) == (4, 40, "words")
    assert mined.filters["numbers"]["enabled"] and mined.filters["identical"]["near"] == 1
    assert not mined.filters["language"]["enabled"] and mined.filters["decontaminate"]["enabled"]
    assert few.pivot == {**PIVOT, "pairs": "all", "max_group": 3} and (few.corpus, few.cap) == ("Few", 5)
    assert few.filters["length"]["min"] == 2 and not few.filters["numbers"]["enabled"]
    assert [file.label for file in made.files] == ["Europarl.fr-en", "Bible.fr-en"]


def test_a_corpus_is_bitext_of_the_pairs_that_it_counts_or_else_of_any():
    """By OPUS's names of the languages, which its counts have."""
    catalogue = {
        "Subtitles": {"version": "v1", "names": {"zh": "zh_cn"}, "pairs": {"en-zh_cn": 9}},
        "Books": {"version": "v1", "pairs": {"en-fr": 9}},
    }
    item = {"pivoted": ["it", "zh"], "through": "en", "from": ["Subtitles", "Books"]}
    (part,) = config({"m": {"languages": ["it", "zh"], "corpora": [item]}}, corpora=catalogue).model("m").parts
    assert [source.label for source in part.sources] == ["Subtitles.en-zh", "Books.en-it", "Books.en-zh"]


def test_another_model_takes_over_what_was_mined():
    models = english(MINED) | {"more": {"languages": ["en", "fr"], "corpora": [{"model": "en", "cap": 7}, "Bible"]}}
    mined, bible = config(models, corpora=CATALOGUE).model("more").parts
    assert (mined.label, mined.cap, mined.paraphrase, bible.label) == ("Mined-fr.en-en", 7, True, "Bible.en-fr")


def test_what_the_config_says_of_filters_counts_for_mined_pairs_too():
    models = english(MINED, filters={"length": {"max": 60}, "language": {"enabled": True}})
    (mined,) = config(models, corpora=CATALOGUE).model("en").parts
    assert mined.filters["length"] == {"enabled": True, "min": 4, "max": 60, "tokens": "words", "sides": "both"}
    assert mined.filters["language"]["enabled"] and mined.sources[0].filters["length"]["max"] == 60


def test_the_bitext_of_a_model_comes_with_its_filters():
    models = fr(filters={"length": {"max": 60}}) | english({**MINED, "from": {"model": "fr"}}, pivot={"max_group": 9})
    made = config(models, corpora=CATALOGUE)
    (mined,) = made.model("en").parts
    assert mined.sources == made.model("fr").parts and mined.sources[0].filters["length"]["max"] == 60
    assert mined.pivot["max_group"] == 9
    needed = [name for name in made.downloads(made.model("en")) if name.startswith(("opus", "lid"))]
    assert needed == ["opus/Europarl/v8/en-fr.txt.zip", "lid/lid.176.ftz"]
    assert "opus/Europarl/v8/en-fr.txt.zip" in plan(made, "en", "nowhere")
    assert made.model("en").differences == {"pivot.max_group": 9}


def test_two_languages_give_bitext_from_the_archives_that_there_are():
    item = {"pivoted": ["de", "fr"], "through": "en", "from": ["Bible", "Europarl"]}
    made = config({"de-fr": {"languages": ["de", "fr"], "corpora": [item]}}, corpora=CATALOGUE)
    (part,) = made.model("de-fr").parts
    assert (part.label, part.paraphrase) == ("Mined-en.de-fr", False)
    assert [source.label for source in part.sources] == ["Bible.en-de", "Bible.en-fr", "Europarl.en-fr"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"through": "en"}, "mined en: through en, the same language"),
        ({"mined": "de"}, "mined de: de is not in models.en.languages; add it"),
        ({"from": ["Europarll"]}, "Europarll is not a corpus of the config; did you mean Europarl?"),
        ({"from": {"model": "frr"}}, "frr is not a model of the config; did you mean fr?"),
        ({"from": {"model": "en"}}, "from en, whose own corpora these would be; break the cycle"),
        ({"from": {"model": "back"}}, "back is made from en in turn; break the cycle"),
        ({"from": {"model": "de"}}, "no corpus of `from` is bitext of en and fr"),
        ({"from": ["Europarl", "Europarl"]}, "Europarl.fr-en is in `from` twice"),
        ({"from": [{"model": "fr"}]}, "`from` lists bitext, or is `{model: name}`"),
        ({"from": [{"name": "Bible", "languages": ["de", "en"]}]}, "Bible is in de and en; leave it out"),
        (
            {"from": [{"path": "x.tsv"}]},
            "does not say which languages the columns of x.tsv are in; write `- {path: x.tsv, languages: [fr, en]}`",
        ),
        ({"pivoted": ["en", "de"]}, "an item is either mined or pivoted"),
        ({"path": "x.tsv"}, "path is not for mined pairs"),
        ({"languages": ["en", "fr"]}, "languages is not for mined pairs"),
        (
            {"filters": {"similarity": {"enabled": True, "encoder": "results/en/model"}}},
            "filters.similarity.encoder is results/en/model, which is trained on these very pairs, a cycle",
        ),
    ],
)
def test_what_cannot_be_mined_is_refused(change, said):
    models = fr() | {"de": {"languages": ["de", "en"], "corpora": ["Bible"]}} | english(MINED | change)
    models["back"] = {"languages": ["en", "fr"], "corpora": [{"model": "fr"}, {**MINED, "from": {"model": "en"}}]}
    if change.get("from") != {"model": "back"}:
        del models["back"]
    text = message(models=models, corpora=CATALOGUE)
    assert said in text, text


def test_an_encoder_that_is_trained_on_the_mined_pairs_is_a_circle():
    """Through another model, too; one that only shares their bitext is none."""
    pivot = {"encoder": "results/more/model", "min_cosine": 0.7}
    models = fr() | english(MINED, pivot=pivot)
    models["more"] = {"languages": ["en", "fr"], "corpora": ["Europarl", {"model": "en"}]}
    said = "pivot.encoder is results/more/model, which is trained on these very pairs, a cycle"
    assert said in message(models=models, corpora=CATALOGUE)
    models["en"]["pivot"] = {**pivot, "encoder": "results/fr/model"}
    assert config(models, corpora=CATALOGUE).model("en").parts[0].pivot["min_cosine"] == 0.7
    models["en"]["pivot"] = {"min_cosine": 0.7}
    assert "pivot.min_cosine is 0.7, but pivot.encoder names none" in message(models=models, corpora=CATALOGUE)


def test_a_missing_key_is_told():
    for key, example in (("through", "en"), ("from", "[OpenSubtitles]")):
        item = {name: value for name, value in MINED.items() if name != key}
        assert f"mined en: has no `{key}`; write e.g. `{key}: {example}`" in message(models=english(item))


def test_the_licence_of_mined_pairs_is_that_of_all_their_bitext():
    assert union(["MIT", "CC0-1.0", "MIT"]) == "CC0-1.0 AND MIT"
    assert union(["MIT AND A", "(B OR C) AND A", "MIT"]) == "((B OR C) AND A) AND A AND MIT"
    assert union(["MIT", None]) is None and union([]) is None and union(["A OR B"]) == "A OR B"
    allowed = config(english(MINED), licences={"allow": ["MIT"]}, corpora=CATALOGUE)
    with pytest.raises(ConfigError, match=r"Mined-fr has the licence CC0-1\.0, and licences.allow holds MIT"):
        allowed.cleared("en")
