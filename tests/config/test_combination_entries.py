"""Entries of models that join others, trained apart or together."""

import pytest

from tests.config.test_config import config, fr, message


def test_a_combination_joins_models_of_the_config() -> None:
    models = fr(evaluate={"resamples": 200})
    models |= {"t": {"extends": "fr", "encoder": "trigram"}, "both": {"encoder": {"concat": ["fr", "t"]}}}
    models |= {"half": {"encoder": {"concat": ["fr", "t"], "weights": [1, 0.5]}, "evaluate": {"tatoeba": False}}}
    made = config(models)
    both, half = made.model("both"), made.model("half")
    assert (both.combined, half.combined) == ((("fr", 1.0), ("t", 1.0)), (("fr", 1.0), ("t", 0.5)))
    assert both.languages == made.model("fr").languages and both.seed == made.model("fr").seed
    assert (both["evaluate"]["resamples"], both["evaluate"]["tatoeba"]) == (200, True)
    assert half["evaluate"]["tatoeba"] is False
    task = {"task": "similarity", "path": "own.tsv"}
    models["fr"]["evaluate"]["tasks"] = {"own": task}
    models["half"]["evaluate"]["tasks"] = {"more": {**task, "path": "more.tsv"}}
    with_tasks = config(models)
    assert list(with_tasks.model("both")["evaluate"]["tasks"]) == ["own"]
    assert list(with_tasks.model("half")["evaluate"]["tasks"]) == ["own", "more"]
    assert both["compare"]["systems"] == ["word-overlap"]  # untrained subwords are of one model
    assert not [name for name in made.downloads(both) if name.startswith(("opus/", "lid/"))]


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            {"encoder": {"add": ["fr", "de"]}},
            "both.encoder.add: vectors of models trained apart share no space",
        ),
        ({"encoder": {"weights": [1, 2]}}, "both.encoder: names no models"),
        ({"encoder": {"concat": ["fr", "frr"]}}, "frr is not a model of the config; did you mean fr?"),
        ({"encoder": {"concat": ["fr", "bothh"]}}, "bothh is not a model of the config"),  # not this one itself
        ({"encoder": {"concat": ["fr", "whole"]}}, "whole is a combination itself; name its models instead"),
        ({"encoder": {"concat": ["fr", "de"], "weights": [1, 2, 3]}}, "both.encoder.weights: 3 for 2 models"),
        ({"encoder": {"concat": ["fr", "de"], "add": ["fr", "de"]}}, "names models to join and models to add"),
        ({"encoder": {"add": ["fr", "t"], "joint": True}}, "add: vectors of different dimensions (fr 1024, t 300)"),
        ({"encoder": {"concat": ["fr", "de"], "scaled": False}}, "both.encoder.scaled: is for models concatenated"),
        (
            {"encoder": {"concat": ["fr", "de"], "scaled": False, "joint": True, "weights": [1, 2]}},
            "both.encoder.weights: are for vectors scaled to length 1",
        ),
        (
            {"encoder": {"concat": ["fr", "de"], "joint": True}, "corpora": ["News"]},
            "both.corpora: a combination of models is trained on the pairs of its first model; leave it out",
        ),
        (
            {"encoder": {"concat": ["fr", "de"], "joint": True}, "train": {"dim": 3}},
            "both.train.dim: each model's own entry sets it for its part",
        ),
        (
            {"encoder": {"concat": ["fr", "de"], "joint": True}, "train": {"settings_from": "variants"}},
            "train.settings_from: not for joint",
        ),
        (
            {"encoder": {"concat": ["fr", "started"], "joint": True}},
            "both.encoder: started starts from an encoder's vectors of its pieces, which a part of a joint",
        ),
        (
            {"encoder": {"concat": ["fr", "cased"], "joint": True}},
            "cased and fr differ in filters.lower_case, but encoders trained together read the same text",
        ),
        (
            {"extends": "fr", "encoder": {"concat": ["fr", "de"]}},
            "trains nothing of its own; leave it out, and `extends`",
        ),
        (
            {"encoder": {"concat": ["fr", "de"]}, "train": {"dim": 3}},
            "both.train: a combination of models trains nothing",
        ),
        (
            {"encoder": {"concat": ["fr", "de"]}, "compare": {"systems": ["untrained"]}},
            "both.compare.systems: untrained has the subwords of one model",
        ),
    ],
)
def test_a_combination_that_cannot_be_is_refused(entry, said) -> None:
    whole = {"encoder": {"concat": ["fr", "de"]}}
    others = {
        "de": {"extends": "fr"},
        "t": {"extends": "fr", "encoder": "trigram", "train": {"dim": 300}},
        "cased": {"extends": "fr", "filters": {"lower_case": False}},
        "started": {"extends": "fr", "recipe": "distilled"},
    }
    text = message(models=fr() | others | {"whole": whole, "both": entry})
    assert said in text, text


def test_encoders_trained_together_have_their_models_vocabularies_and_starts() -> None:
    models = fr(train={"dim": 300, "init_from": "results/old/model", "epochs": 4})
    models |= {"t": {"extends": "fr", "encoder": "trigram", "train": {"dim": 500, "init_from": None, "epochs": 3}}}
    models |= {"joint": {"encoder": {"concat": ["fr", "t"], "joint": True, "weights": [1, 0.5]}}}
    models |= {"plain": {"encoder": {"concat": ["fr", "t"], "joint": True, "scaled": False}, "seed": 5}}
    models |= {"l": {"extends": "t", "encoder": "blstm", "lstm": {"width": 150, "combine": "concat"}}}
    models |= {"sum": {"encoder": {"add": ["fr", "l"], "joint": True}, "train": {"epochs": 9}}}
    made = config(models)
    joint, plain, added = (made.model(name) for name in ("joint", "plain", "sum"))
    assert (joint.parts, joint["train"]["epochs"]) == (made.model("fr").parts, 4)
    assert joint["train"]["init_from"] is None and joint.contextual == joint.joint
    assert (joint.joint["join"], joint.joint["scaled"], joint.joint["weights"]) == ("concat", True, [1.0, 0.5])
    subwords, trigrams = joint.joint["parts"]
    assert (subwords["dim"], subwords["init_from"], subwords["encoder"]) == (300, "results/old/model", {"kind": "mean"})
    assert (trigrams["dim"], trigrams["init_from"], trigrams["init_spelling"]) == (500, None, 0)
    assert (plain.joint["scaled"], plain.seed, plain.joint["weights"]) == (False, 5, [1.0, 1.0])
    assert (added.joint["join"], added["train"]["epochs"]) == ("add", 9)
    assert added.joint["parts"][1]["encoder"]["kind"] == "blstm"
    assert made.sts_development(joint) is not None and made.sts_development(made.model("fr")) is not None
