"""Corpora of a model: each item resolved against the catalogue, and what does not fit is told with what to write."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.config.config import Config
from psp.config.corpus_entries import CorpusSpec, check_entry, file_name, resolve
from psp.core.errors import ConfigError

FILTERS: dict[str, Any] = {
    "lower_case": True,
    "normalise": False,
    "length": {"enabled": True, "min": 3, "max": 100},
    "score": {"enabled": False, "min": 0.0, "max": 1.0},
    "similarity": {"enabled": False, "encoder": None, "min": 0.0, "max": 1.0},
    "language": {"enabled": True, "method": "top", "sides": "both"},
}
CATALOGUE: dict[str, dict[str, Any]] = {
    "Europarl": {"version": "v8", "licence": "LicenseRef-open"},
    "Books": {"version": "v1", "versions": {"en-fr": "v2"}, "licences": {"en-fr": "CC0-1.0"}, "pairs": {"en-fr": 9}},
    "QED": {"version": "v2", "opus": "QED-all", "names": {"pt": "pt_BR"}, "cap": 500},
    "ParaNMT": {
        "kind": "paranmt", "version": "5m",
        "filters": {"length": {"max": 40}},
        "recipes": {"psp": {"filters": {"length": {"min": 5}, "score": {"enabled": True}}}},
    },
}  # fmt: skip


def part(item: Any, languages: tuple[str, ...] = ("en", "fr"), recipe: str = "psp") -> CorpusSpec:
    return resolve(
        item, languages=languages, catalogue=CATALOGUE, filters=FILTERS, recipe=recipe, where="models.m.corpora"
    )


def test_a_name_is_an_entry_of_the_catalogue():
    found = part("Europarl")
    assert found == part({"name": "Europarl"})
    assert (found.label, found.pair, found.paraphrase) == ("Europarl.en-fr", "en-fr", False)
    assert found.download == "opus/Europarl/v8/en-fr.txt.zip"
    assert (found.version, found.licence, found.cap, found.path) == ("v8", "LicenseRef-open", None, None)
    assert found.filters == FILTERS
    # The order of languages is the model's, and that of the archive alphabetical.
    found = part("Europarl", ("fr", "en"))
    assert (found.label, found.languages, found.pair) == ("Europarl.fr-en", ("fr", "en"), "en-fr")
    # OPUS's own names are those of the archive alone.
    found = part("QED", ("en", "pt"))
    assert found.languages == ("en", "pt") and found.names == ("en", "pt_BR")
    assert (found.label, found.download, found.cap) == ("QED.en-pt", "opus/QED-all/v2/en-pt_BR.txt.zip", 500)
    found = part({"name": "QED", "cap": 7, "licence": "MIT"}, ("en", "pt"))
    assert (found.cap, found.licence) == (7, "MIT")


def test_paraphrases_have_one_language_on_both_sides():
    found = part("ParaNMT", ("en",))
    assert found.paraphrase and (found.label, found.download) == ("ParaNMT.en-en", "paranmt/ParaNMT/5m.zip")
    assert part({"name": "ParaNMT", "languages": ["en", "en"]}) == part({"name": "ParaNMT", "languages": ["en"]})


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("a/b.tsv", "b"),
        ("b.TSV.GZ", "b"),
        ("b.txt.zst", "b"),
        ("b.en-fr.tsv", "b.en-fr"),
        (".tsv", "local"),
        ("中文.tsv", "local-72726d"),
        ("日本.tsv", "local-cf2abf"),
        ("été.tsv", "t-bd010c"),
        ("àté.tsv.gz", "t-42c6fb"),
        ("b (é).csv.bz2", "b-787ccd"),
        ("b\u2019s.tmx", "b-s"),
        ("a/news.en-fr.en.gz b/news.en-fr.fr", "news.en-fr"),
        ("english.txt estonian.txt", "english"),
    ],
)
def test_names_from_files(path, name):
    assert file_name(*path.split(" ") if " b/" in path or " es" in path else [path]) == name


def test_two_files_of_one_name_are_both_named():
    corpora = [{"path": "a/日本.tsv"}, {"path": "中文.tsv"}, {"path": "x/b.tsv"}, {"csv": "y/b.csv"}]
    config = {"corpora": {}, "models": {"m": {"languages": ["en", "fr"], "corpora": corpora}}}
    said = r"x/b\.tsv and y/b\.csv would both be called b\.en-fr; name one, e\.g\. `- \{csv: y/b\.csv, name: b-2\}`"
    with pytest.raises(ConfigError, match=said):
        Config(config).model("m")


@given(st.text())
def test_any_file_s_name_gives_one_that_a_file_may_have(text):
    name = file_name(f"folder/{text}".replace("\0", ""))
    assert name and set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")
    assert name[0] not in "-._" and name[-1] not in "-._"


def own(filters: dict[str, Any]) -> dict[str, Any]:
    return {"name": "Europarl", "filters": filters}


@pytest.mark.parametrize(
    ("item", "languages", "message"),
    [
        ("Europar", ("en", "fr"), r"models\.m\.corpora: Europar is not a corpus .*; did you mean Europarl\?; add it"),
        ({"cap": 5}, ("en", "fr"), r"an item names no corpus; write `- \{name: Europarl\}`"),
        ("Europarl", ("en",), "Europarl is bitext and needs two languages, but the model has 1; write"),
        ("Europarl", ("de", "en", "fr"), r"write `- \{name: Europarl, languages: \[en, fr\]\}`"),
        ({"path": "x.tsv"}, ("de", "en", "fr"), "x needs the languages of its two sides, but the model has 3"),
        ("ParaNMT", ("en", "fr"), r"write `- \{name: ParaNMT, languages: \[en, en\]\}`"),
        ({"name": "Europarl", "languages": ["en", "de"]}, ("en", "fr"), r"language de, .* not in models\.m\.languages"),
        (own({"lower_case": False}), ("en", "fr"), "lower_case is false, but a model"),
        (own({"length": {"min": 101}}), ("en", "fr"), "length: min 101 is above max 100; swap"),
        (own({"similarity": {"enabled": True}}), ("en", "fr"), "similarity .* names no encoder"),
        (own({"score": {"enabled": True}}), ("en", "fr"), "carry no scores"),
        ("Europarl", ("en", "zz"), r"lid\.176 has no label for 'zz'; write `language: \{method: evidence\}`"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " not in value else "",
)  # fmt: skip
def test_what_does_not_fit_says_where_and_what_to_write(item, languages, message):
    with pytest.raises(ConfigError, match=message):
        part(item, languages)


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        ({"versions": {"fr-en": "v1"}}, r"corpora\.C\.versions: fr-en is not a pair .* order; write en-fr"),
        ({"licences": {"english": "MIT"}}, r"corpora\.C\.licences: english is not a pair .*, such as en-fr"),
        ({"kind": "paranmt", "opus": "D"}, r"corpora\.C\.opus: is only for OPUS corpora; kind paranmt has one file"),
        ({"kind": "paranmt", "versions": {"en-fr": "v1"}}, r"corpora\.C\.versions: is only for OPUS corpora"),
    ],
    ids=str,
)  # fmt: skip
def test_an_entry_is_checked_by_pair(entry, message):
    with pytest.raises(ConfigError, match=message):
        check_entry("C", entry)


def test_sound_entries_pass():
    for name, entry in CATALOGUE.items():
        check_entry(name, entry)
    check_entry("C", {"pairs": {"en-zh-CN": 5, "pt-BR-zh-CN": 1}})  # OPUS's names of languages may have hyphens
    check_entry("C", {"pairs": {"en-fr": 1}, "versions": {"en-it": "v2"}})  # what is not counted may exist


MODELS: dict[str, Any] = {
    "en": {"languages": ["en"], "corpora": ["Para"]},
    "fr": {"languages": ["en", "fr"], "corpora": ["A", "B"]},
    "both": {"languages": ["en", "fr"], "corpora": ["A", {"name": "Para", "languages": ["en", "en"]}]},
}


def config(model: str, **own: Any) -> Config:
    """A config of three models, of which one has settings of its own."""
    paraphrases = {"kind": "paranmt", "version": "v1", "pairs": {"en-en": 10}}
    corpora = {"Para": paraphrases, "A": {"version": "v1"}, "B": {"version": "v1"}}
    return Config({"corpora": corpora, "models": {**MODELS, model: {**MODELS[model], **own}}})


@pytest.mark.parametrize(
    ("rank", "words"),
    [
        ({"by": "score", "deciles": [0]}, ["rank.deciles.0 is 0, but must be at least 1"]),
        ({"by": "scores"}, ["rank.by is scores, but must be score or translation or overlap or length", "or null"]),
    ],
)
def test_wrong_ranks_are_told_with_what_is_allowed(rank: dict[str, Any], words: list[str]):
    with pytest.raises(ConfigError) as caught:
        config("en", rank=rank)
    assert all(word in str(caught.value) for word in words), str(caught.value)


def test_a_corpus_may_have_a_rank_of_its_own():
    rank = {"by": "length", "deciles": [1]}
    checked = config("both", rank=rank, corpora=[{"name": "A", "rank": {"by": None}}, "B"])
    first, second = checked.model("both").parts
    assert (first.rank, second.rank) == ({"by": None, "deciles": [1]}, rank)
    assert checked.model("both").differences == {"rank.by": "length", "rank.deciles": [1], "corpora.A.rank.by": None}
    # Deciles of nothing change nothing.
    assert config("fr", rank={"deciles": [1]}).model("fr").differences == {}
    with pytest.raises(ConfigError, match=r"rank\.by is score, but OPUS's corpora, such as A\.en-fr, have no scores "
                       r"\(a third column\); of the model's corpora, Para\.en-en may have them"):  # fmt: skip
        config("both", rank={"by": "score"})
    own = [{"name": "Para", "languages": ["en", "en"], "rank": {"by": "score"}}, "A"]
    assert [part.ranked for part in config("both", corpora=own).model("both").parts] == [True, False]


def test_a_plan_counts_the_deciles_that_are_kept(tmp_path):
    from psp.config.plan import plan

    whole, ranked = (plan(config("en", rank={"by": by}), "en", tmp_path) for by in (None, "score"))
    assert "10 read, about 9 trained on" in whole and "10 read, about 2 trained on" in ranked


def test_bitext_that_pairs_are_mined_from_is_not_ranked():
    item = {"mined": "en", "through": "fr", "from": [{"name": "A", "rank": {"by": "length"}}]}
    with pytest.raises(ConfigError, match="bitext of `from` is used whole, but has `rank`"):
        config("both", corpora=[item])
    mined = {**item, "from": ["A"], "rank": {"by": "overlap", "deciles": [5]}}
    (part,) = config("both", corpora=[mined]).model("both").parts
    assert part.rank == {"by": "overlap", "deciles": [5]} and not part.sources[0].ranked
