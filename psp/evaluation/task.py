"""Score a trained model on one task, for results/<model>/tasks/<task>.json.

A file beside it has the resamples (:mod:`psp.evaluation.task_files`), for later differences between two systems
(:mod:`psp.evaluation.compare`).
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from psp.evaluation import bootstrap
from psp.evaluation.overlap import overlap, overlap_of_text
from psp.evaluation.scorers import EmbeddingScorer, Floats, Scorer
from psp.evaluation.task_files import write
from psp.evaluation.tasks import BootstrapSpec, Task, Unsupported, make
from psp.models.folder import load
from psp.pairs.store import SUFFIX
from psp.text.languages import ISO3

log = logging.getLogger(__name__)

FORMAT = 1


def evaluate_task(
    scorer: Scorer,
    settings: Mapping[str, Any],
    *,
    name: str,
    resamples: int,
    seed: int,
    resampled: dict[str, Floats] | None = None,
) -> dict[str, Any]:
    """Score a system on one task.

    Args:
        scorer: the system.
        settings: the task's entry, as under ``evaluate.tasks`` of a config.
        name: the task's name, which determines its resamples.
        resamples, seed: number and seed of the bootstrap resamples.
        resampled: filled with each figure in each resample, float64 (resamples,), by ``<part>/<figure>``; not with
            those whose items depend on the system.

    Returns:
        ``task`` (its kind), ``settings`` (all of them), ``files`` (``name`` and ``sha256`` of each that was read),
        ``conditions``, and ``parts``: for each the number of ``items``, and each figure with ``value`` and 95%
        ``interval``; ``unknown_languages``, those of the task that the model does not have; ``sets`` and ``skipped``,
        the checksums of published sets and what the files lack. If the system cannot do the task, there are no parts,
        and ``why`` says so.

    Raises:
        ConfigError, DataError: the entry is wrong, or a file of the set.
    """
    task, draw = make(settings, f"evaluate.tasks.{name}"), BootstrapSpec(resamples, seed, name)
    result = {
        "task": task.kind,
        "settings": task.settings,
        "files": task.checksums(),
        "conditions": {"confidence": bootstrap.CONFIDENCE, "resamples": resamples, "seed": seed},
    }
    if unknown := _unknown_languages(scorer, task):
        log.warning("%s: %s: not a language of the model", name, ", ".join(unknown))
        result["unknown_languages"] = unknown
    try:
        parts = task.score(scorer, draw)
    except Unsupported as error:
        log.warning("%s: %s", name, error)
        return {**result, "parts": {}, "why": str(error)}
    for called, part in parts.items():
        shown = {key: metric.report["value"] for key, metric in part.metrics.items()}
        log.info("%s, %s: %d items, %s", name, called, part.items, shown)
        if resampled is not None and not part.own_items:
            draws = {f"{called}/{key}": metric.resampled for key, metric in part.metrics.items()}
            resampled |= {key: drawn for key, drawn in draws.items() if drawn is not None}
    if task.sums:
        result["sets"] = task.sums
    if task.missing:
        result["skipped"] = [{"set": lacking, "why": why} for lacking, why in task.missing]
    if name != task.kind:  # a config adds it: its name says which test it is
        parts = {called: replace(part, test="") for called, part in parts.items()}
    return {**result, "parts": {called: part.described(task.metrics) for called, part in parts.items()}}


def _unknown_languages(scorer: Scorer, task: Task) -> list[str]:
    """The languages of a task that a model lacks; empty if either names no languages."""
    known = getattr(getattr(scorer, "model", None), "config", {}).get("languages") or []
    codes = {*known, *(ISO3.get(code, code) for code in known)}
    wanted = task.settings.get("languages") or []
    plain = {code: re.split("[-_]", code)[0] for code in wanted}
    return [code for code in wanted if known and not {plain[code], ISO3.get(plain[code])} & codes]


def evaluate_model_task(
    model_dir: Path | str,
    out: Path | str,
    settings: Mapping[str, Any],
    *,
    model: str,
    name: str,
    resamples: int,
    seed: int,
    pairs: Path | str | None = None,
) -> dict[str, Any]:
    """Score a trained model on one task, and write the result with ``format``, ``model`` and ``name``.

    With its training ``pairs``, a store or (a transformer's) the mixed pair file, ``overlap`` has what they share with
    the set (:func:`psp.evaluation.overlap.overlap`).

    Raises:
        ConfigError, DataError: as :func:`evaluate_task`; ``model_dir`` holds no model; or ``pairs`` is another
            model's store.
    """
    loaded, drawn = load(model_dir), dict[str, Floats]()
    scorer = EmbeddingScorer(loaded)
    scores = evaluate_task(scorer, settings, name=name, resamples=resamples, seed=seed, resampled=drawn)
    if pairs is not None:
        sentences = make(settings, f"evaluate.tasks.{name}").sentences()
        encoded = Path(pairs).suffix == SUFFIX
        scores["overlap"] = (
            overlap(pairs, loaded.tokenizer, sentences) if encoded else overlap_of_text(pairs, sentences)
        )
    result = {"format": FORMAT, "model": model, "name": name, **scores}
    write(out, result, drawn)
    return result


def evaluate_system_task(
    scorer: Scorer, out: Path | str, settings: Mapping[str, Any], *, model: str, name: str, resamples: int, seed: int
) -> dict[str, Any]:
    """Score any system on one task, and write :func:`evaluate_task` with ``format``, ``model`` and ``name``.

    Raises:
        ConfigError, DataError: as :func:`evaluate_task`.
    """
    drawn: dict[str, Floats] = {}
    scores = evaluate_task(scorer, settings, name=name, resamples=resamples, seed=seed, resampled=drawn)
    result = {"format": FORMAT, "model": model, "name": name, **scores}
    write(out, result, drawn)
    return result
