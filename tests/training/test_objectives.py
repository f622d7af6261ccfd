"""The registry of objectives: its names are those that settings allow, and what asks it needs no torch."""

from __future__ import annotations

import subprocess
import sys

import pytest

from psp.config.blocks.training import PAPER, TrainSettings
from psp.core.errors import ConfigError
from psp.training import objectives
from psp.training.grid import unused
from tests.training.pairwise_sigmoid import registered


def test_an_unknown_objective_is_refused_with_the_names() -> None:
    train = {**TrainSettings().as_dict(), "objective": "sigmoid"}
    for ask in (objectives.mines, unused):
        with pytest.raises(ConfigError, match=r"train\.objective is sigmoid, but must be infonce or mar"):
            ask(train)  # type: ignore[operator]
    with registered():
        assert TrainSettings.of(train).objective == "sigmoid"
        assert unused(train) >= {"directions", "margin", "scale"}


def test_what_a_training_does_not_read_follows_from_what_each_choice_reads() -> None:
    ours, paper = TrainSettings().as_dict(), {**TrainSettings().as_dict(), **PAPER}
    shape = {"megabatch", "anneal", "negatives"}
    assert unused(ours) == {*shape, "directions"}
    assert unused(paper) == {"scale", "init_smoothing", "warmup"}
    assert unused({**ours, "mask_equal": False}) == unused(ours)


@pytest.mark.slow
def test_asking_needs_no_torch() -> None:
    code = (
        "import sys, psp.training.grid, psp.config.blocks.training\n"
        "from psp.training.objectives import find\n"
        "train = psp.config.blocks.training.TrainSettings().as_dict()\n"
        "assert find('margin').title(train) and 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
