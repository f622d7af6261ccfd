"""What is asked of losses by their names, which needs no torch."""

from __future__ import annotations

import pytest

from psp.config.blocks.training import PAPER, TrainSettings
from psp.core.errors import ConfigError
from psp.training.grid import unused
from psp.training.losses import check, make_loss, mines, reads
from tests.training.pairwise_sigmoid import OBJECTIVE


def test_what_a_loss_of_ones_own_reads_is_asked_of_its_class() -> None:
    train = TrainSettings(objective=OBJECTIVE).as_dict()
    assert reads(OBJECTIVE) == {"mask_equal"} and not mines(OBJECTIVE) and mines("margin")
    assert unused(train) >= {"directions", "margin", "scale"}
    with pytest.raises(ConfigError, match=r"train\.objective: no_module:Loss: there is no module no_module; put"):
        reads("no_module:Loss")
    for other in ("collections:OrderedDict", "json:dumps"):
        with pytest.raises(ConfigError, match=rf"train\.objective: {other} is no subclass of psp\.training\.losses"):
            mines(other)


def test_its_settings_are_its_classs() -> None:
    made = make_loss(TrainSettings(objective=OBJECTIVE, loss={"scale": 5}).as_dict())
    assert made.settings == {"scale": 5.0, "bias": -3.0}
    assert float(made.state_dict()["scale"].exp()) == pytest.approx(5)
    for objective, own, said in (
        (OBJECTIVE, {"scale": 0}, "train.loss.scale is 0, but must be above 0 (what cosines are multiplied by at the"),
        (OBJECTIVE, {"scael": 5}, "train.loss.scael is not a key; did you mean scale?; train.loss may hold scale"),
        ("margin", {"scale": 5}, "train.loss: has settings of a class of your own, but objective is margin; leave it"),
    ):
        with pytest.raises(ConfigError) as caught:
            check(TrainSettings(objective=objective, loss=own).as_dict())
        assert str(caught.value).startswith(said)


def test_what_a_training_does_not_read_follows_from_what_each_choice_reads() -> None:
    ours, paper = TrainSettings().as_dict(), {**TrainSettings().as_dict(), **PAPER}
    shape = {"megabatch", "anneal", "negatives"}
    assert unused(ours) == {*shape, "directions"}
    assert unused(paper) == {"scale", "init_smoothing", "warmup"}
    assert unused({**ours, "mask_equal": False}) == unused(ours)
