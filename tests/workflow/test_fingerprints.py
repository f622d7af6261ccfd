"""Fingerprints reach what shapes a rule's output and no more: an edit to a page must never retrain a model."""

import re
from pathlib import Path

import pytest

from psp.config.training import FromStore
from psp.config.transformer_entries import TransformerEntry
from psp.core import fingerprint as module
from psp.models.kinds import CLASSES
from psp.training import objectives
from tests.workflow.conftest import declared

ROOT = Path(__file__).parents[2]

STREAM = {"core", "text"}
PAIRS = STREAM | {"pairs"}
FILTER = PAIRS | {"corpora", "pairs.filters"}
MODEL = STREAM | {"models"}
TRAIN = PAIRS | MODEL | {"evaluation", "training", "training.encoders", "training.losses"}
TRAIN |= {"training.objectives"}
TRAIN |= {"training.negatives", "training.saving", "training.teaching"}
#: A search asks each objective what it reads.
OBJECTIVES = {"training", "training.objectives"}
EVALUATE = MODEL | {"config", "evaluation", "evaluation.tasks"}
#: For each rule the packages that its fingerprint may reach.
MAY_REACH = {
    "phrasebook": STREAM | {"phrasebook"},
    "filter": FILTER | MODEL | {"evaluation"},  # test sets are read there; the similarity filter takes a model
    "inspect": FILTER | MODEL | {"pairs.inspect", "evaluation", "evaluation.tasks", "report"},
    "pivot": PAIRS | {"models"},  # an encoder may compare translations
    "backtranslate": MODEL | {"inference", "inference.translation"},
    "rank": FILTER | {"evaluation"},
    "dedupe": PAIRS,
    "mix": PAIRS,
    "neardup": PAIRS,
    "subword": PAIRS,
    "vocabulary": PAIRS,
    "store": PAIRS,
    # It runs a teacher, and finds its neighbours as a search does.
    "teach": PAIRS | MODEL | {"training", "training.objectives", "training.teaching", "inference", "inference.search"},
    "piece_vectors": PAIRS | MODEL | {"training"},
    "development_pairs": STREAM | {"evaluation"},
    "combine": MODEL,
    "train": TRAIN,
    "train_transformer": TRAIN | {"training.transformer"},
    "evaluate_combined": EVALUATE | PAIRS,  # of a task's overlap with the training pairs
    "evaluate": EVALUATE | PAIRS | OBJECTIVES,  # what a grid decides is among the differences
    "task": (EVALUATE - {"config"}) | PAIRS | {"inference", "inference.search"},  # mining is a task
    "system": EVALUATE | PAIRS,
    "compare": EVALUATE,
    "quantize": EVALUATE | PAIRS,
    "speed": EVALUATE | PAIRS | {"evaluation.speed", "models.exports", "report"},
    "lexicon": (EVALUATE - {"config"}) | PAIRS | {"pairs.lexicon", "inference", "inference.search"},  # mining is a task
    "translator_heldout": PAIRS,
    "translator": PAIRS
    | {"training", "training.objectives", "training.saving", "training.translator"}
    | {"inference", "inference.translation", "models"},  # its scores
    "variants": EVALUATE | PAIRS | OBJECTIVES | {"evaluation.speed"},
    "variant_curves": STREAM | {"report"},
    "curve": STREAM | {"report"},
    "data": PAIRS | {"corpora", "report"},
    "stats": PAIRS | {"corpora", "pairs.filters", "pairs.stats", "report"},
    "card": STREAM | {"models"},
    "examples": EVALUATE,
    # Pages show figures by the names that the evaluation has for them, and pairs from the store.
    "report": EVALUATE | PAIRS | {"corpora", "report", "inference", "inference.search"},
    "report_several": EVALUATE | PAIRS | {"corpora", "report", "inference", "inference.search"},
    "summary": STREAM | {"models"},
    "release": MODEL | PAIRS | {"corpora", "report"},  # it saves smaller forms of a model
    "release_zip": MODEL | PAIRS | {"corpora", "report"},
}
#: Modules that are about people, other services or figures: no step on the way to a model depends on them.
BESIDE = ("psp.models.card", "psp.models.hub", "psp.models.published", "psp.models.exports", "psp.models.model",
          "psp.evaluation.bootstrap", "psp.evaluation.evaluate", "psp.report", "psp.inference", "psp.cli")  # fmt: skip
ON_THE_WAY = ("filter", "pivot", "rank", "dedupe", "mix", "neardup", "subword", "vocabulary", "store",
              "development_pairs", "train", "translator_heldout")  # fmt: skip


def fingerprinted():
    """The modules that each rule's fingerprint begins with, by the rule's name."""
    found = {}
    for file in sorted((ROOT / "rules").glob("*.smk")):
        for rule, body in declared(file):
            if match := re.search(r"\bfingerprint\((.*?)\)", body, re.DOTALL):
                found[rule] = re.findall(r'"([\w.*]+)"', match[1])
    return found


#: The rules of training ask the model's kind.
RULES = fingerprinted() | {
    "train": [FromStore.trained_in, *sorted(objective.__module__ for objective in objectives.OBJECTIVES.values())],
    "train_transformer": [TransformerEntry.trained_in],
}


def package(name):
    """The package that a module lies in, without ``psp.``; a package lies in itself."""
    below = name.removeprefix("psp.")
    if name.startswith("phrasebook"):
        return "phrasebook"
    return below if (ROOT / "psp" / below.replace(".", "/")).is_dir() else below.rpartition(".")[0]


def test_each_rule_with_code_is_in_the_table():
    assert RULES.keys() == MAY_REACH.keys()


@pytest.mark.parametrize("rule", sorted(MAY_REACH))
def test_a_fingerprint_reaches_what_it_may(rule):
    reached = module.reached(*RULES[rule])
    assert {package(name) for name in reached} <= MAY_REACH[rule]
    if rule in ON_THE_WAY:
        assert not [name for name in reached if name.startswith(BESIDE)]


@pytest.mark.parametrize(
    "rule",
    ["filter", "inspect", "pivot", "backtranslate", "teach", "task", "system", "evaluate", "quantize",
     "examples", "speed", "report", "release"],
)  # fmt: skip
def test_whatever_may_load_any_model_has_all_kinds_in_its_fingerprint(rule):
    of_kinds = {kind.__module__ for kind in CLASSES.values()} | {"psp.models.lstm"}
    assert of_kinds <= set(module.reached(*RULES[rule]))


@pytest.mark.slow
def test_a_new_constant_in_a_page_or_a_figure_makes_no_model_anew(copy_of_finished):
    psp = copy_of_finished.folder / "psp"
    edited = [
        "models/card.py", "models/hub.py", "report/data.py", "report/curve.py", "evaluation/bootstrap.py",
        "cli/main.py", "cli/embed.py", "inference/serve/app.py",
    ]  # fmt: skip
    for name in edited:
        with (psp / name).open("a") as file:
            file.write("\nADDED = 1\n")
    targets = [f"results/demo/{name}" for name in ("eval.json", "data.json", "card.md")]
    planned = copy_of_finished.planned(*targets)
    assert planned == {"task", "evaluate", "data", "card"}  # bootstrap is part of a figure's interval
    for name in edited:  # one page alone
        if name != "evaluation/bootstrap.py":
            (psp / name).write_text((psp / name).read_text() + "ADDED_AGAIN = 1\n")
    (psp / "evaluation/bootstrap.py").write_text(
        (psp / "evaluation/bootstrap.py").read_text().removesuffix("\nADDED = 1\n")
    )
    assert copy_of_finished.planned(*targets) == {"data", "card"}
