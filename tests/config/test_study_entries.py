"""The blocks deciles and by_corpus: which corpora a study uses, how it trains, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from psp.config.config import Config
from psp.core.errors import ConfigError

CORPORA = {
    "Para": {"kind": "paranmt", "version": "v1", "pairs": {"en-en": 10}},
    "A": {"version": "v1"},
    "B": {"version": "v1"},
}
MODELS: dict[str, Any] = {
    "en": {"languages": ["en"], "corpora": ["Para"]},
    "fr": {"languages": ["en", "fr"], "corpora": ["A", "B"]},
    "both": {"languages": ["en", "fr"], "corpora": ["A", {"name": "Para", "languages": ["en", "en"]}]},
}


def config(model: str, **own: Any) -> Config:
    return Config({"corpora": CORPORA, "models": {**MODELS, model: {**MODELS[model], **own}}})


def fails(study: str, model: str, **own: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        config(model, **own).studied(model, study)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_study_takes_the_models_corpora_or_those_that_are_named():
    assert [part.label for part in config("en").studied("en", "tenths")] == ["Para.en-en"]
    assert [part.label for part in config("fr").studied("fr", "by_corpus")] == ["A.en-fr", "B.en-fr"]
    named = config("fr", by_corpus={"corpora": ["B"]})
    assert [part.label for part in named.studied("fr", "by_corpus")] == ["B.en-fr"]
    assert named.model("fr").differences == {}


def test_a_point_is_trained_from_scratch_with_its_encoder():
    checked = config("en", deciles={"epochs": 3}, train={"init_from": "results/fr/model", "epochs": 9})
    for encoder, spelling in (("subword", True), ("word", True), ("trigram", False), ("blstm", True)):
        found = checked.sampled("en", "tenths", encoder)
        assert found.encoder == encoder and bool(found["train"]["init_spelling"]) == spelling
        assert (found["train"]["epochs"], found["train"]["init_from"]) == (3, None)
        assert (found.contextual is not None) == (encoder == "blstm")
    # A model of trigrams has no such start; its subwords do.
    checked = config("en", encoder="trigram")
    assert (
        checked.model("en")["train"]["init_spelling"]
        == 0
        < checked.sampled("en", "tenths", "word")["train"]["init_spelling"]
    )


def test_the_recipe_of_paranmt_passes_once_over_the_pairs():
    assert config("en", recipe="paranmt").model("en")["deciles"]["epochs"] == 1


@pytest.mark.parametrize(
    ("study", "model", "own", "words"),
    [
        ("tenths", "fr", {}, ["deciles.by is score", "A.en-fr, have no scores", "nor has another corpus"]),
        (
            "tenths",
            "fr",
            {"deciles": {"by": ["overlap"]}},
            ["deciles.by is overlap", "in two languages", "rank by length"],
        ),
        ("tenths", "both", {"deciles": {"by": ["length"]}}, ["en-en and en-fr", "would mix them"]),
        ("tenths", "en", {"development": {"sts": None}}, ["sts is null", "name a file of STS pairs"]),
        ("by_corpus", "fr", {"by_corpus": {"corpora": ["C"]}}, ["C is not a corpus of the model", "there are A, B"]),
    ],
)
def test_what_a_study_cannot_use_is_one_line(study, model, own, words):
    said = fails(study, model, **own)
    assert all(word in said for word in words), said


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ({"deciles": {"encoders": ["words"]}}, ["deciles.encoders.0 is words, but must be subword or word or trigram"]),
        (
            {"deciles": {"by": ["size"]}},
            ["deciles.by.0 is size, but must be score or translation or overlap or length"],
        ),
        ({"by_corpus": {"seeds": [1, 1]}}, ["by_corpus.seeds is [1, 1], but has a duplicate item"]),
        ({"rank": {"by": "score", "deciles": [0]}}, ["rank.deciles.0 is 0, but must be at least 1"]),
        ({"rank": {"by": "score", "deciles": [11]}}, ["rank.deciles.0 is 11, but must be at most 10"]),
        ({"rank": {"by": "score", "deciles": [2, 2]}}, ["rank.deciles is [2, 2], but has a duplicate item"]),
        ({"rank": {"by": "scores"}}, ["rank.by is scores, but must be", "or null"]),
    ],
)
def test_wrong_values_are_told_with_what_is_allowed(own, words):
    with pytest.raises(ConfigError) as caught:
        config("en", **own)
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
