"""eval.json of a combination: its scores, those of its parts, and how much the parts differ (ParaNMT-50M, Table 10)."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from psp.core.errors import DataError
from psp.core.files import read_report, write_json
from psp.evaluation import resamples
from psp.evaluation.evaluate import Evaluation, gathered_files
from psp.models.scores import FORMAT, compared_metrics, tasks_of


class EvaluatedPart(NamedTuple):
    """One of the joined models: its name, its weight, its eval.json, and its scores in each resample."""

    name: str
    weight: float
    evaluation: Path
    resamples: Path


def evaluate_combined(
    out: Path | str,
    parts: Sequence[EvaluatedPart],
    *,
    name: str,
    resampled: Path | str,
    **scored: Any,
) -> Evaluation:
    """Combine the scores of a combination and its parts, and write eval.json.

    Args:
        out: path of eval.json; written atomically.
        parts: its parts, evaluated on the same sets and resamples; one that lacks a language has no score there.
        name: its name in the config.
        resampled: path for its scores in each resample.
        scored: as for :func:`psp.evaluation.evaluate.gathered_files`.

    Returns:
        What was written: ``format``, ``model``; ``parts``, for each its ``model``, ``weight``, ``scores``
        (:func:`psp.models.scores.compared_metrics`) and ``differences``, its scores minus the combination's with
        intervals by the paired bootstrap; ``between_parts``; and the body of an evaluation.

    Raises:
        DataError: a file is missing or damaged, or a part was evaluated on other sets or resamples.
    """
    body, drawn = gathered_files(**scored)
    figures = compared_metrics(body)
    evaluations: list[Evaluation] = [read_report(part.evaluation, FORMAT) for part in parts]
    known = {language for evaluation in evaluations for language in evaluation.get("languages", ())}
    bodies, entries = {}, []
    for part, evaluation in zip(parts, evaluations, strict=True):
        scores = compared_metrics(evaluation)
        lacks_languages = not known <= set(evaluation.get("languages", known))
        if evaluation["conditions"] != body["conditions"] or not (lacks_languages or figures.keys() <= scores.keys()):
            raise DataError(
                f"scored on other sets or resamples than {name}; give both models the same `evaluate` block and seed",
                part.evaluation,
            )
        other = resamples.read(part.resamples, evaluation["conditions"])
        bodies[part.name] = evaluation
        entries.append(
            {
                "model": part.name,
                "weight": part.weight,
                "scores": {key: scores.get(key) for key in figures},
                "differences": resamples.differences(figures, drawn, scores, other),
            }
        )
    result: dict[str, Any] = {
        "format": FORMAT,
        "model": name,
        "parts": entries,
        "between_parts": between(bodies),
        **body,
    }
    resamples.write(resampled, drawn, body["conditions"])
    write_json(out, result)
    return cast("Evaluation", result)


def _pearson(figures: Mapping[str, Any]) -> float | None:
    pearson = figures["pearson"]
    return pearson["value"] if isinstance(pearson, Mapping) else pearson  # a number in format 1


def between(bodies: Mapping[str, Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The mean absolute difference of Pearson x 100 between each two models, over the STS data sets of all years.

    Args:
        bodies: eval.json of each model, by name.

    Returns:
        For each two ``models``, ``sets``, the number of data sets on which both have a correlation, and
        ``mean_absolute_difference`` (None without such a set).
    """
    correlations = {
        name: {
            (year, key): value
            for year, differences in tasks_of(body).get("sts", {"parts": {}})["parts"].items()
            for key, figures in differences["further"].get("sets", {}).items()
            if (value := _pearson(figures)) is not None
        }
        for name, body in bodies.items()
    }
    differences = []
    for one, other in itertools.combinations(correlations, 2):
        shared = correlations[one].keys() & correlations[other].keys()
        lost = [abs(correlations[one][key] - correlations[other][key]) for key in sorted(shared)]
        differences.append(
            {
                "models": [one, other],
                "sets": len(lost),
                "mean_absolute_difference": round(statistics.fmean(lost), 4) if lost else None,
            }
        )
    return differences
