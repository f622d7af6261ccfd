"""compare.json: a model beside other systems, and what separates them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from psp.core.errors import DataError
from psp.core.files import read_json
from psp.evaluation import bootstrap, resamples
from psp.evaluation.compare import compare
from psp.evaluation.evaluate import evaluate_model, evaluate_system
from psp.evaluation.system import scorer_of
from psp.evaluation.systems import BASELINES
from psp.models.scores import compared_metrics
from psp.report.comparison import quoted
from psp.report.eval_table import table
from psp.report.reported import ReportedScores
from tests.conftest import as_published

SEED = 1


def files(folder):
    return folder / "eval.json", folder / "eval.safetensors"


@pytest.fixture(scope="module")
def scored(made, tmp_path_factory):
    """The model and the baselines, each scored into a folder of its own."""
    folder = tmp_path_factory.mktemp("scored")
    out, drawn = files(folder / "trained")
    evaluate_model(made.model, out, name="fr", resampled=drawn, seed=SEED, **made.tests)
    for name in BASELINES:
        scorer = scorer_of(name, model_dir=made.model, store=made.store, seed=SEED)
        out, drawn = files(folder / name)
        evaluate_system(scorer, out, name=name, resampled=drawn, seed=SEED, **made.tests)
    return folder


@pytest.fixture(scope="module")
def compared(scored):
    systems = {name: files(scored / name) for name in BASELINES}
    return compare(files(scored / "trained"), systems, scored / "compare.json", name="fr")


def test_all_systems_have_the_layout_of_the_model(compared, scored):
    assert read_json(scored / "compare.json") == json.loads(json.dumps(compared))
    assert list(compared["systems"]) == ["trained", *BASELINES]
    trained = read_json(scored / "trained/eval.json")
    assert compared["systems"]["trained"] == {key: trained[key] for key in trained if key not in ("format", "model")}
    scores = {name: compared_metrics(body)["files/graded"] for name, body in compared["systems"].items()}
    # The gold score is the number of shared words: each of these systems must follow it, each in its own way.
    assert all(score > 60 for score in scores.values())
    assert len(set(scores.values())) == 4


def test_differences_are_taken_in_each_resample(compared, scored):
    conditions = compared["systems"]["trained"]["conditions"]
    own = resamples.read(scored / "trained/eval.safetensors", conditions)
    figures = compared_metrics(compared["systems"]["trained"])
    for name in BASELINES:
        other = resamples.read(scored / name / "eval.safetensors", conditions)
        theirs = compared_metrics(compared["systems"][name])
        assert compared["differences"][name].keys() == figures.keys()
        for figure, found in compared["differences"][name].items():
            assert found["difference"] == pytest.approx(theirs[figure] - figures[figure], abs=1e-4)
            drawn = sorted(b - a for a, b in zip(own[figure], other[figure], strict=True))
            assert found["interval"] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=1e-4)
    # Narrower than if the two were drawn apart.
    low, high = compared["differences"]["untrained"]["files/graded"]["interval"]
    rng = np.random.default_rng(0)
    apart = rng.permutation(other["files/graded"]) - own["files/graded"]
    first, last = bootstrap.interval(apart)
    assert high - low < last - first


def test_other_resamples_are_refused(made, scored, tmp_path):
    out, drawn = files(tmp_path)
    evaluate_system(scorer_of("word-overlap"), out, name="it", resampled=drawn, seed=2, **made.tests)
    with pytest.raises(DataError, match=r"eval\.json: scored on other resamples than .* delete it"):
        compare(files(scored / "trained"), {"it": (out, drawn)}, tmp_path / "compare.json", name="fr")
    out.write_bytes((scored / "untrained/eval.json").read_bytes())
    with pytest.raises(DataError, match=r"eval\.safetensors: from another bootstrap"):
        compare(files(scored / "trained"), {"it": (out, drawn)}, tmp_path / "compare.json", name="fr")
    drawn.write_bytes(b"cut off")
    with pytest.raises(DataError, match=r"eval\.safetensors: cannot be read"):
        compare(files(scored / "trained"), {"it": (out, drawn)}, tmp_path / "compare.json", name="fr")
    assert not (tmp_path / "compare.json").exists()


def test_each_system_stands_beside_the_model_with_its_difference(compared, scored):
    evaluation = read_json(files(scored / "trained")[0])
    head, _, *rows = cells(table(evaluation, compared))
    assert head == ["test", "figure", "pairs", "fr", *(name for system in BASELINES for name in (system, "difference"))]
    found = compared["differences"]["untrained"]["files/graded"]
    low, high = found["interval"]
    (graded,) = [row for row in rows if row[0] == "graded" and "Pearson" in row[1]]
    assert graded[head.index("untrained") + 1] == f"{found['difference']:+.1f} [{low:+.1f}, {high:+.1f}]"
    main, others = (table(evaluation, compared, main=main).rows for main in (True, False))
    assert len(main) + len(others) == len(rows) == len(table(evaluation).rows)


def test_quoted_figures_stand_below_the_models_on_the_same_published_sets(scored):
    reported = [
        ReportedScores("LaBSE", {"tatoeba/fra-eng": 4.0}, "A results repository", "2026-08-20", "By accuracy."),
        ReportedScores("USE", {"polish/ppc": 72.7}, "Another", "2022", ""),
    ]
    evaluation = read_json(files(scored / "trained")[0])
    assert quoted(evaluation, reported) is None  # its sentences are its own
    found = quoted(as_published(evaluation), reported)
    head, _, _, other = cells(found)
    assert head == ["system", "fra-eng"] and other == ["LaBSE (1)", "4.0"]
    text = found.write("markdown")
    assert "- (1) A results repository; 2026-08-20. By accuracy.\n" in text and "Another" not in text


def cells(shown):
    lines = shown.write("markdown").split("\n")
    return [line.strip("| ").split(" | ") for line in lines if line.startswith("|")]
