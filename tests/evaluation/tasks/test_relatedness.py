"""A regression on the vectors of pairs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from psp.core.errors import ConfigError, DataError
from psp.evaluation import probes
from psp.evaluation.task import evaluate_task
from psp.evaluation.tasks import make
from tests.evaluation.tasks.conftest import DRAW, HASHED, SAME, features, related, write

pytest.importorskip("torch")


@pytest.fixture(autouse=True)
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    schedule = probes.Schedule(batch=16, epochs=10, last=60)
    monkeypatch.setitem(probes.relate.__kwdefaults__, "schedule", schedule)


@pytest.fixture
def entry(tmp_path: Path) -> dict[str, object]:
    return {"task": "relatedness", "path": str(related(tmp_path, train=100, dev=40, test=50)), "seeds": [1, 2]}


def test_it_is_the_mean_over_seeds_of_scipys_correlations(entry: dict[str, object]) -> None:
    task = make(entry)
    part = task.score(HASHED, DRAW)["all"]
    scores = [np.array([float(label) for label in one.labels]) for one in task.parts]
    found = probes.relate([features(HASHED, one) for one in task.parts], scores[:2], seeds=[1, 2])
    spearmans = [100 * stats.spearmanr(one.scores, scores[2]).statistic for one in found]
    assert part.further["spearmans"] == [round(one, 4) for one in spearmans]
    assert part.metrics["spearman"].value == pytest.approx(np.mean(spearmans))
    pearsons = [100 * stats.pearsonr(one.scores, scores[2]).statistic for one in found]
    assert part.metrics["pearson"].value == pytest.approx(np.mean(pearsons))
    low, high = part.metrics["spearman"].report["interval"]
    assert 40 < low < part.metrics["spearman"].value < high
    assert part.further["epochs"] == [one.epochs for one in found]
    assert make(entry).score(HASHED, DRAW)["all"].report == part.report


def test_scores_below_one_are_counted_in_each_part(entry: dict[str, object]) -> None:
    body = evaluate_task(HASHED, entry, name="set", resamples=100, seed=1)
    further = body["parts"]["all"]["further"]
    below = [further[f"{part}_scores_below_1"] for part in ("train", "dev", "test")]
    assert below == [15, 6, 8]  # each seventh pair
    assert further["pairs_in_train"] == 0


def test_a_system_that_says_nothing_has_no_figure_and_a_reason(entry: dict[str, object]) -> None:
    report = make(entry).score(SAME, DRAW)["all"].report
    assert report["figures"]["spearman"] == {
        "value": None,
        "interval": None,
        "why": "the system finds every pair equally similar",
    }


def test_bad_input_is_one_line(entry: dict[str, object], tmp_path: Path) -> None:
    write(tmp_path / "dev.tsv", ["5\ta\tb", "5.5\ta\tb"])
    with pytest.raises(DataError, match=r"dev\.tsv, line 2: the score 5.5 is not between 0 and 5"):
        make(entry).score(HASHED, DRAW)
    with pytest.raises(ConfigError, match="is ppc, but must be pairs or sick"):
        make({**entry, "layout": "ppc"})


def test_cdscorpus_as_published_has_scores_below_one(psp_data: Path) -> None:
    task = make({"task": "relatedness", "layout": "sick", "path": str(psp_data / "eval/polish/downstream/CDS")})
    assert [int((scores < 1).sum()) for scores in task.gold] == [2326, 291, 243]
