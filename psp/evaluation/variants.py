"""Compare the variants of a model: each score by seed, with mean and standard deviation.

The untrained baselines are always included.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psp.core import schemas
from psp.core.errors import DataError
from psp.core.files import read_json, write_json
from psp.core.machine import processor, usable_cores, versions
from psp.core.version import __version__
from psp.evaluation.evaluate import main_figures
from psp.text.csv_table import read_table

FORMAT = 1

#: Distributions that training speed depends on.
_PACKAGES = ("numpy", "torch", "numba")
#: Settings not reported as differences: they vary by run, or do not affect what is learned.
_NOT_COMPARED = ("seed", "device", "precision", "dev_every", "log_every")


def gather(runs: Mapping[str, Mapping[int, Path]], compare: Path, out: Path, *, model: str) -> dict[str, Any]:
    """Write variants.json.

    Args:
        runs: for each variant (the model's own settings first), by seed: the folder with eval.json and train/.
        compare: the model's compare.json, for the untrained baselines.
        out: path of variants.json; written atomically.
        model: the model's name in the config.

    Returns:
        What was written: ``format``, ``model``, ``machine``, ``variants`` (a list: ``name``, ``recipe``, ``settings``,
        ``seeds``, ``threads``, ``figures``) and ``systems`` (scores by name).

    Raises:
        DataError: a file is missing or damaged, or has another seed.
    """
    evaluations = {name: [_evaluation(folder, seed) for seed, folder in seeds.items()] for name, seeds in runs.items()}
    base = next(iter(evaluations.values()))[0]["train"]["settings"]
    found = []
    for name, bodies in evaluations.items():
        by_seed = [
            {**figures(body), **_training(body["train"], folder / "train/timing.csv")}
            for body, folder in zip(bodies, runs[name].values(), strict=True)
        ]
        used = bodies[0]["train"]["settings"]
        found.append(
            {
                "name": name,
                "recipe": bodies[0]["recipe"],
                "settings": {k: v for k, v in used.items() if k not in _NOT_COMPARED and v != base[k]},
                "seeds": list(runs[name]),
                "threads": [body["train"]["threads"] * body["train"]["processes"] for body in bodies],
                "figures": {key: summary([one[key] for one in by_seed]) for key in by_seed[0]},
            }
        )
    systems = read_json(compare)
    schemas.check(systems, "compare", compare)
    result = {
        "format": FORMAT,
        "model": model,
        "machine": {
            "processor": processor(),
            "cores": len(usable_cores()),
            "versions": {"psp": __version__, **{k: v for k, v in versions().items() if k in _PACKAGES}},
        },
        "variants": found,
        "systems": {name: figures(body) for name, body in systems["systems"].items() if name != "trained"},
    }
    write_json(out, result)
    schemas.check_written(result, "variants", out)
    return result


def figures(body: Mapping[str, Any]) -> dict[str, float | None]:
    """Return the scores of a system that are compared, by name; None where a correlation is undefined.

    These are the scores of :func:`psp.evaluation.evaluate.main_figures`; ``sts/spearman``, over all pairs;
    ``tatoeba/<language>``, the mean error of both directions; and ``tatoeba``, the mean over languages.

    Args:
        body: eval.json, or a system of compare.json.
    """
    found = main_figures(body)
    if body["sts"]:
        found["sts/spearman"] = body["sts"]["average"]["spearman_concatenated"]
    means = []
    for language, directions in body["tatoeba"].items():
        means.append(statistics.fmean(figures["error"] for figures in directions.values()))
        found[f"tatoeba/{language}"] = round(means[-1], 4)
    if means:
        found["tatoeba"] = round(statistics.fmean(means), 4)
    return found


def summary(values: Sequence[float | None]) -> dict[str, Any]:
    """Return the values with mean and sample standard deviation; None if a value, or a second seed, is missing."""
    numbers = [value for value in values if value is not None]
    whole = len(numbers) == len(values)
    return {
        "values": list(values),
        "mean": round(statistics.fmean(numbers), 4) if whole else None,
        "deviation": round(statistics.stdev(numbers), 4) if whole and len(numbers) > 1 else None,
    }


def _evaluation(folder: Path, seed: int) -> dict[str, Any]:
    path = folder / "eval.json"
    body: dict[str, Any] = read_json(path)
    schemas.check(body, "eval", path)
    if "train" not in body:
        raise DataError("does not say how the model was trained; make it by the workflow", path)
    if (used := body["train"]["settings"]["seed"]) != seed:
        raise DataError(f"was trained with seed {used}, not {seed}; delete it and make it again", path)
    return body


def _training(report: Mapping[str, Any], timing: Path) -> dict[str, float | None]:
    """Return the validation score and cost of a training run."""
    columns = read_table(timing, ("pairs", "seconds", "pairs_per_second"))
    # The rate of a row covers only its mini-batches; its seconds include validation.
    steps = np.diff(columns["pairs"], prepend=0.0) / columns["pairs_per_second"]
    development = {}
    if (best := report["best"]) is not None:
        there = {"score": True, "pearson": best["pairs_sts"], "error": best["pairs_heldout"]}
        development = {f"development/{key}": best[key] for key, pairs in there.items() if pairs}
    return {
        **development,
        "pairs_seen": report["pairs_seen"],
        "seconds": round(float(columns["seconds"][-1]), 3),
        "pairs_per_second": round(float(columns["pairs"][-1] / steps.sum()), 1),
    }
