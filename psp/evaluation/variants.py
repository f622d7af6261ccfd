"""The variants of a model side by side: each figure by seed, its mean and its deviation.

Beside them stand the systems that need no training, so that no table is without them.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from psp import __version__, schemas
from psp.errors import DataError
from psp.evaluation.run import main_figures
from psp.files import read_json, write_json
from psp.speed.conditions import processor, usable_cores, versions
from psp.tables import read_table

FORMAT = 1

#: Distributions that the speed of training depends on.
_PACKAGES = ("numpy", "torch", "numba")
#: Settings in which variants do not differ: they are the training's, or change nothing that is learned.
_NOT_COMPARED = ("seed", "device", "precision", "dev_every", "log_every")


def gather(runs: Mapping[str, Mapping[int, Path]], compare: Path, out: Path, *, model: str) -> dict[str, Any]:
    """Write variants.json.

    Args:
        runs: for each variant, the model's own settings first, by seed: the folder with eval.json and train/.
        compare: the model's compare.json, for the systems without training.
        out: where variants.json goes, whole or not at all.
        model: the model's name in the config.

    Returns:
        What was written: ``format``, ``model``, ``machine``, ``variants`` (a list: ``name``, ``recipe``, ``settings``,
        ``seeds``, ``threads``, ``figures``) and ``systems`` (by name, their figures).

    Raises:
        DataError: a file is missing or damaged, or is a training with another seed.
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
    """The figures of a system that are compared, by name; None where there is no correlation.

    Those of :func:`psp.evaluation.run.main_figures`; ``sts/spearman``, which is over all pairs; ``tatoeba/<language>``,
    the mean error of both directions, and ``tatoeba``, that of all languages.

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
    """Figures of several seeds with their mean and sample deviation; None where a figure, or a second seed, lacks."""
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
        raise DataError("does not tell how the model was trained; make it by the workflow", path)
    if (used := body["train"]["settings"]["seed"]) != seed:
        raise DataError(f"was trained with seed {used}, not {seed}; delete it and make it again", path)
    return body


def _training(report: Mapping[str, Any], timing: Path) -> dict[str, float | None]:
    """Development score and cost of a training."""
    columns = read_table(timing, ("pairs", "seconds", "pairs_per_second"))
    # A row's rate is that of its mini-batches alone; its seconds have the evaluations on the way in them.
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
