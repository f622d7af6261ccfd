"""Score a trained model on one task of the config, for results/<model>/tasks/<task>.json."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.core.files import write_json
from psp.evaluation import bootstrap
from psp.evaluation.overlap import overlap, overlap_of_text
from psp.evaluation.scorers import EmbeddingScorer, Scorer
from psp.evaluation.tasks import Draw, Task, Unsupported, make
from psp.models.static import load
from psp.pairs.store import SUFFIX

log = logging.getLogger(__name__)

FORMAT = 1


def evaluate_task(
    scorer: Scorer, settings: Mapping[str, Any], *, name: str, resamples: int, seed: int
) -> dict[str, Any]:
    """Score a system on one task.

    Args:
        scorer: the system.
        settings: the task's entry, as under ``evaluate.tasks`` of a config.
        name: the task's name, which tells its resamples from those of others.
        resamples, seed: number and seed of the bootstrap resamples.

    Returns:
        ``task`` (its kind), ``settings`` (all of them), ``conditions``, and ``parts``: for each the number of
        ``items``, and each figure with ``value`` and 95% ``interval``. Where the system cannot do the task, there are
        no parts, and ``why`` says so.

    Raises:
        ConfigError, DataError: the entry is wrong, or a file of the set.
    """
    return _evaluate(scorer, make(settings, f"evaluate.tasks.{name}"), name, resamples, seed)


def _evaluate(scorer: Scorer, task: Task, name: str, resamples: int, seed: int) -> dict[str, Any]:
    result = {
        "task": task.kind,
        "settings": task.settings,
        "conditions": {"confidence": bootstrap.CONFIDENCE, "resamples": resamples, "seed": seed},
    }
    try:
        parts = task.score(scorer, Draw(resamples, seed, name))
    except Unsupported as error:
        log.warning("%s: %s", name, error)
        return {**result, "parts": {}, "why": str(error)}
    for part, found in parts.items():
        log.info("%s, %s: %s", name, part, found.report)
    return {**result, "parts": {part: found.report for part, found in parts.items()}}


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
    loaded, task = load(model_dir), make(settings, f"evaluate.tasks.{name}")
    found = _evaluate(EmbeddingScorer(loaded), task, name, resamples, seed)
    result = {"format": FORMAT, "model": model, "name": name, **found}
    if pairs is not None:
        encoded = Path(pairs).suffix == SUFFIX
        result["overlap"] = (
            overlap(pairs, loaded.tokenizer, task.sentences()) if encoded else overlap_of_text(pairs, task.sentences())
        )
    write_json(out, result)
    return result


def evaluate_system_task(
    scorer: Scorer, out: Path | str, settings: Mapping[str, Any], *, model: str, name: str, resamples: int, seed: int
) -> dict[str, Any]:
    """Score any system on one task, and write :func:`evaluate_task` with ``format``, ``model`` and ``name``.

    Raises:
        ConfigError, DataError: as :func:`evaluate_task`.
    """
    found = evaluate_task(scorer, settings, name=name, resamples=resamples, seed=seed)
    result = {"format": FORMAT, "model": model, "name": name, **found}
    write_json(out, result)
    return result
