from __future__ import annotations

from psp.training.schedule import megabatch_size


def test_grows_by_one_each_150_steps_up_to_the_maximum() -> None:
    assert [megabatch_size(step, 150, 60) for step in (0, 149, 150, 299, 300, 8849, 8850, 10**6)] == [
        1, 1, 2, 2, 3, 59, 60, 60,
    ]  # fmt: skip
    assert megabatch_size(0, 1, 1) == 1
