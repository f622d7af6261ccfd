"""The learning-curve plot as a target of the workflow."""

import pytest

from psp.report.curve import draw


@pytest.mark.slow
def test_the_plot_is_a_target_of_its_own(copy_of_finished, tmp_path):
    folder = copy_of_finished.folder
    output = copy_of_finished.run("results/demo/learning_curve.png").output
    assert "1 of 1 steps" in output  # nothing else is made again for it
    draw([("demo", folder / "results/demo/train")], tmp_path / "expected.png")
    assert (folder / "results/demo/learning_curve.png").read_bytes() == (tmp_path / "expected.png").read_bytes()
