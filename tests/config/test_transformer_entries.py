"""Entries of models that are transformers."""

import pytest

from psp.config.transformer_entries import _missing_base as missing_base
from tests.config.test_config import config, fr, message

MINILM = {"kind": "transformer", "base": "package://some/model"}


def contextual(**entry):
    return fr() | {"t": {"languages": ["en", "fr"], "corpora": ["Europarl"], "encoder": MINILM, **entry}}


def test_a_transformer_reads_text_in_its_own_case_and_unsegmented():
    made = config(contextual(encoder={**MINILM, "pooling": "lstm", "dim": 512}, transformer={"epochs": 2}))
    model = made.model("t")
    assert (model.base, model.encoder, model.tokens) == ("package://some/model", "transformer", "transformer")
    block = model["transformer"]
    assert (block["pooling"], block["dim"], block["epochs"], block["batch_size"]) == ("lstm", 512, 2, 64)
    assert not model["filters"]["lower_case"] and not model.parts[0].filters["lower_case"] and not model["segment"]
    expected = {"encoder": "transformer", "transformer.pooling": "lstm", "transformer.dim": 512}
    assert model.differences == expected | {"transformer.epochs": 2}
    assert made.model("fr")["filters"]["lower_case"] and not made.model("fr").differences
    assert "untrained" not in str(model["compare"]["systems"])


def test_a_teacher_is_one_whose_vectors_are_learnt():
    model = config(contextual(teacher={"encoder": "use-multilingual", "sentences": 500})).model("t")
    assert (model["teacher"]["encoder"], model["teacher"]["weight"], model["teacher"]["loss"]) == (
        "use-multilingual", 1, "kl",
    )  # fmt: skip
    expected = {"encoder": "transformer", "teacher.encoder": "use-multilingual", "teacher.sentences": 500}
    assert {key: value for key, value in model.differences.items() if key != "teacher.languages"} == expected
    text = {"languages": ["pl"], "corpora": [{"text": "pl.txt"}], "encoder": MINILM}
    taught = config(fr() | {"t": {**text, "teacher": {"encoder": "use-multilingual"}}}).model("t")
    assert taught.parts[0].is_text and taught["development"]["heldout"] == 0
    assert "is text without pairs" in message(models=fr() | {"t": text})
    said = message(models=contextual(teacher={"encoder": "minilm", "scale": 5}))
    assert "models.t.teacher.scale: is not for transformers, which learn a teacher's vectors" in said


def test_variants_have_settings_of_their_own():
    variants = {"lstm": {"transformer": {"pooling": "lstm", "dim": 64}, "seeds": [4]}, "paper": {"recipe": "dadas"}}
    made = config(contextual(variants=variants, transformer={"max_length": 32}))
    assert made.model("t").variants["lstm"].seeds == (4,)
    lstm, paper = (made.variant("t", name)["transformer"] for name in ("lstm", "paper"))
    assert (lstm["pooling"], lstm["dim"], lstm["max_length"], lstm["threads"]) == ("lstm", 64, 32, 2)
    assert (paper["epochs"], paper["max_length"], paper["pooling"]) == (3, 512, "lstm")
    assert made.variant("t", "psp")["transformer"]["pooling"] == "mean"


def test_what_a_model_inherits_may_be_about_tables_but_for_variants():
    own = {"t": {"extends": "fr", "encoder": MINILM}}
    inherited = fr(subword={"vocab_size": 900}, train={"dim": 8}, compare={"systems": ["untrained", "minilm"]})
    assert config(inherited | own).model("t")["compare"]["systems"] == ["minilm"]
    said = message(models=fr(variants={"long": {"epochs": 9}}) | own)
    assert "variants.long.epochs: is not for transformers" in said and "`long: null`" in said
    own["t"]["variants"] = {"long": None}
    assert list(config(fr(variants={"long": {"epochs": 9}}) | own).model("t").variants) == ["psp"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"encoder": {"kind": "transformer"}}, "models.t.encoder lacks base; add it"),
        (
            {"encoder": {"kind": "word"}},
            "kind is word, but must be transformer (this says that it is a transformer; any",
        ),
        ({"encoder": {**MINILM, "concat": ["fr", "fr"]}}, "models.t.encoder.concat"),
        ({"encoder": {**MINILM, "base": "${NOWHERE_TO_BE_SEEN}/x"}}, "the variable is not set"),
        ({"encoder": {**MINILM, "pooling": "bilstm", "dim": 3}}, "transformer.dim is 3, but must be even"),
        (
            {"train": {"epochs": 2}},
            "models.t.train: is not for transformers; its training settings are in the block `transformer`",
        ),
        ({"subword": {"vocab_size": 500}}, "models.t.subword: is not for transformers; leave it out"),
        ({"filters": {"lower_case": True}}, "a transformer's own tokenizer lower-cases text"),
        ({"variants": {"v": {"epochs": 2}}}, "variants.v.epochs: is not for transformers; write e.g."),
        ({"variants": {"v": {"transformer": {"epochs": 1}}}}, "variants.v: its settings equal those of psp"),
        (
            {"variants": {"v": {"transformer": {"pooling": "bilstm", "dim": 5}}}},
            "variants.v.transformer.dim is 5, but must be even",
        ),
        ({"compare": {"systems": ["untrained"]}}, "untrained has the subwords of one model, which this one does not"),
        ({"transformer": {"pooling": "lstm"}}, "models.t.transformer"),
    ],
)
def test_what_does_not_fit_is_refused(change, said):
    text = message(models=contextual(**change))
    assert said in text, text


def test_a_combination_holds_no_transformer_and_a_static_model_no_such_variant():
    models = contextual() | {"both": {"encoder": {"concat": ["fr", "t"]}}}
    assert "both.encoder.concat: t is a transformer, which a combination cannot hold" in message(models=models)
    said = message(models=fr(variants={"v": {"transformer": {"pooling": "cls"}}}))
    assert "models.fr.variants.v.transformer: is for transformers" in said


def test_a_base_that_can_only_be_a_folder_must_be_one(tmp_path):
    assert missing_base(str(tmp_path / "none")) and missing_base("./none") and missing_base("results/none/model")
    assert not missing_base(str(tmp_path))
    for name in ("package://some/model", "intfloat/e5-small", "bert-base-cased"):
        assert not missing_base(name)
