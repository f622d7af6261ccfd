"""Variants in the config: whose values they take, and what is said of wrong ones."""

import pytest

from psp.config.config import Config
from psp.core.errors import ConfigError
from tests.training.pairwise_sigmoid import OBJECTIVE

ENTRY = {"languages": ["en", "fr"], "corpora": ["Europarl"]}


def config(variants, models=None, **entry):
    catalogue = {"Europarl": {"version": "v8"}}
    fr = {**ENTRY, **entry, "variants": variants}
    return Config({"corpora": catalogue, "models": {"fr": fr, **(models or {})}})


def test_the_models_own_settings_are_the_first_with_the_default_seeds():
    (own,) = config({}, train={"dim": 300}).model("fr").variants.values()
    assert (own.name, own.recipe, own.seeds, own.base) == ("psp", "psp", (1, 2, 3), True)
    assert own.train["dim"] == 300
    assert list(config({"wide": {"dim": 3}}, recipe="paper").model("fr").variants) == ["paper", "wide"]


def test_keys_stand_over_the_models_own_block_or_over_a_recipes():
    train = {"epochs": 3, "dropout": 0.2, "threads": 3, "log_every": 1000}
    found = config(
        {"wide": {"dim": 3000, "seeds": [7]}, "paper": {"recipe": "paper", "epochs": 1}}, train=train, seeds=[4, 5]
    ).model("fr")
    wide, paper = found.variants["wide"], found.variants["paper"]
    assert {key for key, value in wide.train.items() if value != found["train"][key]} == {"dim"}
    assert (wide.recipe, wide.seeds) == ("psp", (7,))
    assert (paper.recipe, paper.seeds) == ("paper", (4, 5))
    assert (paper.train["epochs"], paper.train["directions"], paper.train["dropout"]) == (1, "source", 0)
    assert (wide.train["select"], paper.train["select"]) == ("last", "best")
    assert (paper.train["threads"], paper.train["log_every"]) == (3, 1000)  # how it runs is the model's


def test_a_variant_is_the_model_with_another_block_and_recipe():
    checked = config({"paper": {"recipe": "paper", "epochs": 1}}, train={"dim": 300}, filters={"ratio": {"words": 3}})
    model, paper = checked.model("fr"), checked.variant("fr", "paper")
    assert checked.variant("fr", "psp") is model
    assert (paper.recipe, paper.seed, paper.parts) == ("paper", model.seed, model.parts)
    assert {block for block in paper.settings if paper[block] != model[block]} == {"train"}
    # The pairs are those of the model: what the paper's recipe would filter otherwise is told.
    told = paper.differences
    assert told["train.epochs"] == 1 and "train.dim" not in told and "train.directions" not in told
    assert told["filters.ratio.words"] == 3 and told["filters.language.enabled"] is True


def test_the_settings_of_a_loss_of_ones_own_vary_and_go_with_it():
    own = {"objective": OBJECTIVE, "loss": {"scale": 5}}
    variants = {"paper": {"recipe": "paper"}, "soft": {"objective": "infonce", "loss": {}}}
    grid = {"loss": [{"scale": 9}, {"scale": 7}]}
    model = config({"flat": {"loss": {"bias": 0}}, **variants, "grid": grid}, train=own).model("fr")
    assert {name: one.train["loss"] for name, one in model.variants.items()} == {
        "psp": {"scale": 5}, "flat": {"bias": 0}, "paper": {}, "soft": {},
        "loss=scale=9": {"scale": 9}, "loss=scale=7": {"scale": 7},
    }  # fmt: skip
    assert model.differences == {"train.objective": OBJECTIVE, "train.loss.scale": 5}
    for variants, said in (
        ({"flat": {"loss": {"bias": "low"}}}, r"models\.fr\.train\.loss\.bias is low, but must be a number \(what"),
        ({"soft": {"objective": "infonce"}}, r"models\.fr\.train\.loss: .* but objective is infonce; .* `loss: {}`"),
    ):
        with pytest.raises(ConfigError, match=said):
            config(variants, train=own).model("fr")


def test_a_recipe_that_differs_in_what_variants_share_is_a_model_of_its_own():
    for model, variant in (("psp", "distilled"), ("distilled", "psp")):
        with pytest.raises(
            ConfigError, match=f"variants.v: recipe {variant} differs from the model's, {model}, in ini"
        ):
            config({"v": {"recipe": variant, "epochs": 2}}, recipe=model)


def test_what_the_grid_decides_is_for_the_models_own_settings_alone():
    variants = {"zipf": {"init_smoothing": 0.1}, "grid": {"dropout": [0, 0.1]}}
    checked = config(variants, train={"settings_from": "variants", "dropout": 0.2})
    own, zipf, point = (checked.variant("fr", name) for name in ("psp", "zipf", "dropout=0.1"))
    assert own["train"]["settings_from"] == "variants" and own.tuned == {"dropout": 0}
    assert not zipf["train"]["settings_from"] and not zipf.tuned
    assert zipf.differences["train.dropout"] == 0.2 and point["train"]["dropout"] == 0.1
    assert checked.model("fr").variants["dropout=0.1"].point == {"dropout": 0.1}


def test_an_extending_model_takes_them_over_and_may_leave_some_out():
    other = {"fr-code": {"extends": "fr", "recipe": "code", "variants": {"code": None, "wide": {"epochs": 2}}}}
    checked = config({"code": {"recipe": "code"}, "wide": {"dim": 3000}}, other)
    assert list(checked.model("fr-code").variants) == ["code", "wide"]
    assert checked.model("fr-code").variants["code"].base
    wide = checked.variant("fr-code", "wide")["train"]
    assert (wide["dim"], wide["epochs"]) == (3000, 2)


@pytest.mark.parametrize(
    ("variants", "words"),
    [
        ({"no-zipf": {"innit": "normal"}}, "models.fr.variants.no-zipf.innit is not a key; did you mean init?"),
        ({"no-zipf": {"threads": 2}}, "models.fr.variants.no-zipf.threads is not a key"),
        ({"w": {}}, "models.fr.variants.w is {}, but needs at least 1 key"),
        ({"psp": {"dim": 2}}, "models.fr.variants.psp: this is the name of the model's own settings"),
        ({"a/b": {"dim": 2}}, "models.fr.variants.a/b: not a usable name"),
        ({"same": {"dim": 1024}}, "models.fr.variants.same: its settings equal those of psp"),
        ({"a": {"dim": 2}, "b": {"dim": 2}}, "models.fr.variants.b: its settings equal those of a"),
    ],
)
def test_a_wrong_variant_gives_one_line_that_says_where(variants, words):
    with pytest.raises(ConfigError) as caught:
        config(variants)
    text = str(caught.value)
    assert words in text
    assert "\n" not in text and len(text) < 600


def test_an_unknown_variant_is_named_with_those_there_are():
    with pytest.raises(ConfigError, match=r"models\.fr\.variants: wied is not one of them; did you mean wide\?; there"):
        config({"wide": {"dim": 3000}}).variant("fr", "wied")
