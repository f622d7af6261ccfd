"""The registry of objectives: its names are those that settings allow, and what asks it needs no torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from psp.core.errors import ConfigError
from psp.training.losses import objective
from psp.training.losses.make import LOSSES
from psp.training.losses.objective import Objective
from psp.training.reads import unused
from psp.training.settings import PAPER, TrainSettings


def test_an_unknown_objective_is_refused_with_the_names(monkeypatch: pytest.MonkeyPatch) -> None:
    train = {**TrainSettings().as_dict(), "objective": "triplet"}
    for ask in (objective.mines, unused, TrainSettings.from_mapping):
        with pytest.raises(ConfigError, match=r"train\.objective: 'triplet' is not allowed; allowed is margin or info"):
            ask(train)  # type: ignore[operator]
    monkeypatch.setitem(
        objective.OBJECTIVES,
        "triplet",
        Objective(frozenset({"scale"}), mines=lambda train: True),
    )
    assert TrainSettings.from_mapping(train).objective == "triplet"
    assert unused(train) == {"average_part", "candidates", "directions", "margin"}


def test_what_a_training_does_not_read_follows_from_what_each_choice_reads() -> None:
    ours, paper = TrainSettings().as_dict(), {**TrainSettings().as_dict(), **PAPER}
    shape = {"megabatch", "anneal", "negatives"}
    assert unused(ours) == {*shape, "directions", "average_part"}
    assert unused({**ours, "candidates": "mined", "average": 2}) == {"directions"}
    assert unused(paper) == {"scale", "candidates", "init_smoothing", "warmup", "average_part"}
    assert unused({**ours, "mask_equal": False}) == unused(ours)


def test_each_objective_has_a_loss() -> None:
    assert LOSSES.keys() == objective.OBJECTIVES.keys()


def test_asking_needs_no_torch() -> None:
    code = (
        "import sys, psp.training.tune, psp.training.settings\n"
        "from psp.training.losses.objective import mines\n"
        "assert mines({'objective': 'margin'}) and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
