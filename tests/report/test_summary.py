"""A model in three sentences."""

import pytest

from psp.core.files import read_json, write_json
from psp.report.run import Run
from psp.report.summary import judged, main_scores, summary
from tests.conftest import as_published

MAIN = "files/graded"


def told(folder, **difference):
    """The summary after the difference of word overlap to the model is set."""
    found = read_json(folder / "compare.json")
    found["differences"]["word-overlap"][MAIN] = difference
    write_json(folder / "compare.json", found)
    return summary(Run.load(folder))


def test_three_sentences_from_the_results(results):
    assert "its error on own set fra (French) is" in summary(Run.load(results))[1]
    write_json(results / "eval.json", as_published(read_json(results / "eval.json")))
    run = Run.load(results)
    what, good, careful = summary(run)
    assert what == "fr embeds English and French in 32 dimensions; it was trained on 600 pairs of 1 corpus."
    score, error = main_scores(run["eval"])
    low, high = score.interval
    assert f"Its Pearson on graded is {score.value:.1f} [{low:.1f}, {high:.1f}]" in good
    assert f"its error on Tatoeba (French) is {error.value:.1f} %" in good
    assert "other is not significantly different by Pearson on graded (+0.0 [+0.0, +0.0])" in good
    assert careful.startswith("Its data has 1 warning, below; one corpus declares no licence; ")
    assert "no other trained system" not in careful
    assert "this page lacks its training" in careful


@pytest.mark.parametrize(
    ("difference", "interval", "said"),
    [
        (-5.4, [-6.2, -4.6], "it is better than the best system without training, word-overlap (+5.4 [+4.6, +6.2])"),
        (5.4, [4.6, 6.2], "it is not as good as the best system without training, word-overlap (−5.4 [−6.2, −4.6])"),
        (-0.4, [-1.2, 0.6], "not significantly different from the best system without training, word-overlap (+0.4"),
    ],
)
def test_a_difference_is_one_by_its_interval_alone(results, difference, interval, said):
    assert said in told(results, difference=difference, interval=interval)[1]


def test_less_is_better_of_errors():
    assert judged({"difference": 3.0, "interval": [1.0, 5.0]}, is_error=True) == -1
    assert judged({"difference": 3.0, "interval": [1.0, 5.0]}, is_error=False) == 1
    assert judged({"difference": 3.0, "interval": [-1.0, 5.0]}, is_error=False) == 0
    assert judged({"difference": None, "interval": None}, is_error=False) == judged(None, is_error=True) == 0


def test_a_model_that_is_not_evaluated(results):
    (results / "eval.json").unlink()
    (results / "compare.json").unlink()
    what, good, careful = summary(Run.load(results))
    assert "is to be trained on 600 pairs" in what and good == "It has not been evaluated yet."
    assert "lacks its scores" in careful
