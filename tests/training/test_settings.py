from __future__ import annotations

from psp.config.blocks.training import PAPER, PARANMT, TrainSettings


def test_the_papers_are_those_of_its_recipe() -> None:
    settings = TrainSettings(**PAPER)
    assert (settings.epochs, settings.batch_size, settings.megabatch, settings.anneal) == (25, 128, 60, 150)
    assert (settings.margin, settings.learning_rate, settings.dim, settings.clip) == (0.4, 1e-3, 1024, None)
    assert (settings.objective, settings.directions, settings.select) == ("margin", "source", "best")


def test_those_of_paranmt_are_those_of_its_recipe() -> None:
    settings = TrainSettings(**PARANMT)
    assert (settings.epochs, settings.batch_size, settings.megabatch, settings.anneal) == (5, 100, 40, 0)
    assert (settings.objective, settings.margin, settings.directions) == ("margin", 0.4, "source")
    assert (settings.negatives, settings.mask_equal) == ("same", False)
    assert (settings.learning_rate, settings.schedule, settings.clip) == (1e-3, "constant", None)
    assert (settings.dim, settings.dropout, settings.token_dropout) == (300, 0, 0)
    assert (settings.init, settings.init_scale, settings.init_spelling) == ("normal", 0.01, 0)
    assert settings.select == "best"
