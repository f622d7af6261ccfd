"""eval.json of a combination: its scores beside those of its parts."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from psp.core.errors import DataError
from psp.core.files import read_json
from psp.evaluation.combined import EvaluatedPart, between, evaluate_combined
from psp.evaluation.evaluate import evaluate_model
from psp.evaluation.quantize import measure
from psp.evaluation.task import evaluate_model_task
from psp.evaluation.tasks import Sources, by_default, not_scored
from psp.models.combined import CombinedModel
from psp.models.scores import compared_metrics
from psp.models.static import StaticModel
from psp.report.comparison import parts as table

SEED = 1


@pytest.fixture(scope="module")
def parts(made, tmp_path_factory):
    """Two models of different embeddings, a combination of them, and the parts' evaluations."""
    folder = tmp_path_factory.mktemp("parts")
    first = StaticModel.load(made.model)
    weight = np.random.default_rng(5).standard_normal(first.weight.shape).astype(np.float32)
    second = StaticModel(weight, first.tokenizer, first.config)
    for name, model in (("first", first), ("second", second), ("both", CombinedModel([first, second], [1, 0.5]))):
        model.save(folder / name / "model")
    for name in ("first", "second"):
        out = folder / name / "eval.json"
        evaluate_model(
            folder / name / "model", out, name=name, resampled=out.with_suffix(".safetensors"), seed=SEED, **made.tests
        )
    return folder


def listed(folder: Path) -> list[EvaluatedPart]:
    return [
        EvaluatedPart(name, weight, folder / name / "eval.json", folder / name / "eval.safetensors")
        for name, weight in (("first", 1.0), ("second", 0.5))
    ]


def scored(folder: Path, tests: dict) -> dict:
    """The combination scored on each task, as jobs of their own do it."""
    tatoeba = {language: [str(file) for file in files] for language, files in tests["tatoeba"].items()}
    files = {name: str(file) for name, file in tests["files"].items()}
    sources = Sources(tests["languages"], tatoeba=tatoeba, files=files)
    about = {"resamples": tests.get("resamples", 1000), "seed": SEED}
    found = {}
    for name, settings in by_default(sources).items():
        found[name] = folder / f"both/tasks/{name}.json"
        evaluate_model_task(folder / "both/model", found[name], settings, model="both", name=name, **about)
    return {"files": found, "skipped": not_scored(sources), **about}


@pytest.fixture(scope="module")
def evaluated(made, parts):
    out = parts / "both/eval.json"
    drawn = out.with_suffix(".safetensors")
    return evaluate_combined(out, listed(parts), name="both", resampled=drawn, **scored(parts, made.tests))


def test_each_part_stands_beside_the_whole(evaluated, parts) -> None:
    assert read_json(parts / "both/eval.json") == json.loads(json.dumps(evaluated))
    figures = compared_metrics(evaluated)
    assert figures["files/graded"] > 60  # the gold score is the number of shared words
    for part, entry in zip(listed(parts), evaluated["parts"], strict=True):
        theirs = compared_metrics(read_json(part.evaluation))
        assert (entry["model"], entry["weight"], entry["scores"]) == (part.name, part.weight, theirs)
        for name, found in entry["differences"].items():
            assert found["difference"] == pytest.approx(theirs[name] - figures[name], abs=1e-4)
            assert found["interval"][0] <= found["difference"] <= found["interval"][1]
    shown = table(evaluated).write()
    assert "second - both" in shown and "[" in shown
    assert any(line.split()[:2] == ["second", "0.5"] for line in shown.splitlines())


def test_parts_of_other_sets_or_resamples_are_refused(made, parts, tmp_path) -> None:
    for changes in ({"resamples": 40}, {"files": {"other": made.tests["files"]["graded"]}}):
        with pytest.raises(DataError, match=r"first/eval\.json: scored on other sets or resamples than both"):
            evaluate_combined(
                tmp_path / "eval.json", listed(parts), name="both", resampled=tmp_path / "eval.safetensors",
                **scored(parts, {**made.tests, **changes}),
            )  # fmt: skip
        assert not list(tmp_path.iterdir())


def test_a_part_without_a_language_has_no_score_there(made, parts, tmp_path) -> None:
    """Where its evaluation says so; else its sets are others."""
    english = {key: value for key, value in made.tests.items() if key != "tatoeba"} | {"languages": ["en"]}
    for name, languages, tests in (("first", ["en"], english), ("second", ["en", "fr"], made.tests)):
        evaluate_model(
            parts / name / "model", tmp_path / f"{name}.json", name=name, resampled=tmp_path / f"{name}.safetensors",
            seed=SEED, info={"languages": languages}, **tests,
        )  # fmt: skip
    listed_here = [
        EvaluatedPart(name, 1.0, tmp_path / f"{name}.json", tmp_path / f"{name}.safetensors")
        for name in ("first", "second")
    ]
    body = evaluate_combined(
        tmp_path / "eval.json", listed_here, name="both", resampled=tmp_path / "eval.safetensors",
        **scored(parts, made.tests),
    )  # fmt: skip
    first, second = body["parts"]
    assert first["scores"]["tatoeba"] is None and first["differences"]["tatoeba"]["difference"] is None
    assert first["scores"]["files/graded"] is not None and second["scores"]["tatoeba"] is not None
    assert "first" in table(body).write()
    report = read_json(tmp_path / "first.json")
    (tmp_path / "first.json").write_text(json.dumps(report | {"languages": ["en", "fr"]}))
    with pytest.raises(DataError, match="scored on other sets or resamples than both"):
        evaluate_combined(
            tmp_path / "eval.json", listed_here, name="both", resampled=tmp_path / "eval.safetensors",
            **scored(parts, made.tests),
        )  # fmt: skip


def test_the_mean_absolute_difference_is_over_the_sets_of_all_years() -> None:
    def body(**years: dict[str, float | None]) -> dict:
        sets = {
            year: {"sets": {key: {"pearson": {"value": r}} for key, r in found.items()}}
            for year, found in years.items()
        }
        years = {year: {"further": found} for year, found in sets.items()}
        return {"tasks": {"sts": {"parts": {**years, "average": {"further": {}}}}}}

    bodies = {
        "a": body(y12={"x": 50.0, "y": 60.0}, y13={"x": 70.0, "z": None}),
        "b": body(y12={"x": 52.0, "y": 59.0}, y13={"x": 76.0, "z": 10.0}),
        "c": {"tasks": {}},
    }
    found = between(bodies)
    assert found[0] == {"models": ["a", "b"], "sets": 3, "mean_absolute_difference": 3.0}
    assert [(one["models"], one["sets"], one["mean_absolute_difference"]) for one in found[1:]] == [
        (["a", "c"], 0, None), (["b", "c"], 0, None)
    ]  # fmt: skip


def test_a_combination_is_quantized_part_by_part(made, parts, tmp_path) -> None:
    result = measure(
        parts / "both/model", tmp_path / "quantized.json", name="both", dtypes=["float32", "int8"], dims=[64, 16],
        seed=SEED, **made.tests,
    )  # fmt: skip
    ((smaller,), whole) = result["smaller"], result["whole"]
    assert (smaller["dtype"], smaller["dim"], whole["dim"]) == ("int8", 64, 64)
    assert smaller["bytes"] < 0.3 * whole["bytes"]
