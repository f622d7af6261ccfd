"""Compare the variants of a model: each score by seed, with mean and standard deviation.

The systems that the model is compared with are included.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypedDict, cast

import numpy as np

from psp.core import __version__
from psp.core.errors import DataError
from psp.core.files import read_report, write_json
from psp.core.machine import processor, usable_cores, versions
from psp.evaluation import resamples
from psp.evaluation.resamples import differences_of_runs as differences
from psp.evaluation.seeds import summary
from psp.models.scores import FORMAT as EVALUATION_FORMAT
from psp.models.scores import compared_metrics
from psp.text.csv_table import read_table

if TYPE_CHECKING:
    from psp.evaluation.evaluate import Evaluation
    from psp.evaluation.task_files import Difference


class VariantsMachine(TypedDict):
    """The machine that wrote this file, usually also the one used for training."""

    processor: str  # name of the processor
    cores: int  # cores available to the job
    versions: dict[str, str]  # versions of psp and of its numerical libraries


class VariantsSummary(TypedDict):
    values: list[float | None]  # the figure for each seed
    mean: float | None  # their mean; null if any is null
    deviation: float | None  # their sample standard deviation; null if any is null, or for a single seed


class VariantReport(TypedDict):
    name: str  # the variant's name, and that of its folder in results/<model>/variants
    recipe: str  # the recipe of its settings
    settings: dict[str, Any]  # the settings that differ from the model's own
    seeds: list[int]  # the seeds it was trained with
    threads: list[int]  # training threads for each seed
    # its scores and cost by name, such as sts (mean Pearson of 2012-2016) or seconds (of training)
    figures: dict[str, VariantsSummary]
    # the means of its scores minus those of the model's own settings (none for those)
    differences: dict[str, Difference]


class VariantsSystem(TypedDict):
    figures: dict[str, float | None]  # its scores by name
    differences: dict[str, Difference]  # its scores minus the means of the model's own settings


class GridPoint(TypedDict):
    name: str  # the point's name, and that of its folder in results/<model>/variants
    settings: dict[str, Any]  # the value for each key that is searched
    # the validation score: the mean over the sets of scored pairs minus the error, each with its weight; higher is
    # better
    score: float
    epoch: int  # the epoch, from 1, whose weights were the best
    steps: int  # total mini-batches


class GridReport(TypedDict):
    """The points of a grid, each trained once, and the best of them."""

    points: list[GridPoint]  # the grid's last key varying fastest
    best: str  # the name of the point with the highest score, the first if several have it


class VariantsReport(TypedDict):
    """Training runs of a model with other settings and several seeds on the same pairs, with scores and cost."""

    format: int
    model: str
    machine: VariantsMachine
    variants: list[VariantReport]  # the model's own settings first, then the config's variants in their order
    systems: dict[str, VariantsSystem]  # the systems that the model is compared with, named as in compare.json
    grid: GridReport | None  # the points of the model's grid, by validation score alone; null without one


FORMAT: Final = 1
#: The scores in each resample, beside eval.json.
RESAMPLES = "eval.safetensors"

#: Packages that training speed depends on.
_PACKAGES = ("numpy", "torch", "numba")
#: Settings not reported as differences: they vary by run, or do not affect what is learned.
_NOT_COMPARED = ("seed", "device", "precision", "log_every")


def gather(
    runs: Mapping[str, Mapping[int, Path]],
    systems: Mapping[str, Path],
    out: Path,
    *,
    model: str,
    grid: GridReport | None = None,
) -> VariantsReport:
    """Write variants.json.

    Args:
        runs: for each variant (the model's own settings first), by seed: the folder with eval.json, eval.safetensors
            and train/.
        systems: the folder with eval.json and eval.safetensors of each system that the model is compared with.
        out: path of variants.json; written atomically.
        model: the model's name in the config.
        grid: the points of its grid.

    Returns:
        What was written: ``format``, ``model``, ``machine``, ``variants`` (a list: ``name``, ``recipe``, ``settings``,
        ``seeds``, ``threads``, ``figures``, ``differences``), ``systems`` (``figures`` and ``differences`` by name) and
        ``grid``.
        Differences are the mean over the seeds minus that of the model's own settings, with the paired bootstrap's 95%
        interval: it does not include the spread between seeds.

    Raises:
        DataError: a file is missing or damaged, has another seed, or was scored on other resamples.
    """
    evaluations = {name: [_evaluation(folder, seed) for seed, folder in seeds.items()] for name, seeds in runs.items()}
    own = next(iter(evaluations.values()))
    base, conditions = own[0]["train"]["settings"], own[0]["conditions"]
    drawn = {
        name: [resamples.read(folder / RESAMPLES, conditions) for folder in seeds.values()]
        for name, seeds in runs.items()
    }
    own_metrics, own_drawn = [compared_metrics(body) for body in own], next(iter(drawn.values()))
    rows = []
    for name, bodies in evaluations.items():
        scores = [compared_metrics(body) for body in bodies]
        by_seed = [
            {**one, **_training(body["train"], folder / "train/timing.csv")}
            for one, body, folder in zip(scores, bodies, runs[name].values(), strict=True)
        ]
        used = bodies[0]["train"]["settings"]
        rows.append(
            {
                "name": name,
                "recipe": bodies[0]["recipe"],
                "settings": {k: v for k, v in used.items() if k not in _NOT_COMPARED and v != base.get(k, v)},
                "seeds": list(runs[name]),
                "threads": [body["train"]["threads"] for body in bodies],
                "figures": {key: summary([one[key] for one in by_seed]) for key in by_seed[0]},
                "differences": {} if bodies is own else differences(own_metrics, own_drawn, scores, drawn[name]),
            }
        )
    beside = {}
    for name, folder in systems.items():
        body = read_report(folder / "eval.json", EVALUATION_FORMAT)
        scores = [compared_metrics(body)]
        other = [resamples.read(folder / RESAMPLES, conditions)]
        beside[name] = {"figures": scores[0], "differences": differences(own_metrics, own_drawn, scores, other)}
    result: dict[str, Any] = {
        "format": FORMAT,
        "model": model,
        "machine": {
            "processor": processor(),
            "cores": len(usable_cores()),
            "versions": {"psp": __version__, **{k: v for k, v in versions().items() if k in _PACKAGES}},
        },
        "variants": rows,
        "systems": beside,
        "grid": grid,
    }
    write_json(out, result)
    return cast("VariantsReport", result)


def _evaluation(folder: Path, seed: int) -> Evaluation:
    path = folder / "eval.json"
    body: Evaluation = read_report(path, EVALUATION_FORMAT)
    if "train" not in body:
        raise DataError("does not say how the model was trained; make it with the workflow", path)
    if (used := body["train"]["settings"]["seed"]) != seed:
        raise DataError(f"was trained with seed {used}, not {seed}; delete it and make it again", path)
    return body


def _training(report: Mapping[str, Any], timing: Path) -> dict[str, float | None]:
    """Return the validation score and cost of a training run."""
    columns = read_table(timing, ("pairs", "seconds", "pairs_per_second"))
    # The rate of a row covers only its mini-batches; its seconds include validation.
    steps = np.diff(columns["pairs"], prepend=0.0) / columns["pairs_per_second"]
    development: dict[str, float | None] = {}
    if "best" not in report:  # the last weights are kept
        after = [row for row in report["development"]["after"] if row["step"] == report["steps"]]
        development = {f"development/{key}": after[-1][key] for key in ("score", "pearson", "error") if after}
        development = {key: value for key, value in development.items() if value is not None}
    elif (best := report["best"]) is not None:
        there = {"score": True, "pearson": best["pairs_sts"], "error": best["pairs_heldout"]}
        development = {f"development/{key}": best[key] for key, pairs in there.items() if pairs}
    if (final := report.get("final")) is not None:
        development["development/score"] = final["score"]
        if final["retrieval"] is not None:
            development["development/error"] = final["retrieval"]["error"]
    return {
        **development,
        "pairs_seen": report.get("pairs_seen", int(columns["pairs"][-1])),
        "seconds": round(float(columns["seconds"][-1]), 3),
        "pairs_per_second": round(float(columns["pairs"][-1] / steps.sum()), 1),
    }
