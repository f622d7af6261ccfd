"""Evaluate any :class:`~psp.evaluation.scorers.Scorer` on the standard tasks: the paper's, and the user's files.

:func:`evaluate` scores a system on all of them; :func:`gather` joins the scores of separate jobs into eval.json.
Results are bitwise reproducible for the same scorer, data, seed and number of resamples.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NotRequired, Required, TypedDict

from psp.config.blocks.evaluation import EvaluateBlock
from psp.core.errors import DataError
from psp.core.files import write_json
from psp.evaluation import bootstrap
from psp.evaluation import resamples as resample_files
from psp.evaluation.scorers import EmbeddingScorer, Floats, Scorer
from psp.evaluation.task import evaluate_task
from psp.evaluation.task_files import Scores, scored_task
from psp.evaluation.tasks import Sources, Task, by_default, not_scored
from psp.models.folder import load
from psp.models.scores import FORMAT, name_of

if TYPE_CHECKING:
    from psp.evaluation.task_files import Difference


class Decontaminated(TypedDict):
    """Pairs kept out of training because they occur in a test or development set."""

    enabled: bool  # whether the filter was on
    mode: Literal["side", "pair"]  # what must match, one side any test sentence or both sides one test pair
    sets: NotRequired[list[str]]  # which sets' sentences are kept out (all but tasks, where it is missing)
    pairs: int  # pairs dropped from all corpora; data.filter counts them by corpus and set


class CombinedPart(TypedDict):
    model: str
    weight: float  # its weight in a cosine
    scores: dict[str, float | None]  # its scores (correlations x 100, errors in %); null if undefined
    differences: dict[str, Difference]  # its scores minus the combination's


class BetweenParts(TypedDict):
    models: list[str]  # the two parts
    sets: int  # data sets on which both have a correlation
    # mean absolute difference of their Pearson correlations x 100; null without such a set
    mean_absolute_difference: float | None


class Evaluation(Scores, total=False):
    """A trained model's scores on every test set in its languages, and how the model was made."""

    format: Required[int]
    model: Required[str]
    languages: list[str]
    recipe: str  # the recipe of its settings
    # every setting that differs from the recipe's, by its dotted config key, such as train.epochs
    differences: dict[str, Any]
    unpinned: list[str]  # downloads without a pinned checksum, by path under results/downloads
    decontaminated: Decontaminated
    data: dict[str, Any]
    subword: dict[str, Any]  # the contents of sentencepiece.json
    # instead of subword, if the vocabulary is collected from the pairs, that of vocabulary.json
    vocabulary: dict[str, Any]
    parts: list[CombinedPart]  # of a combination, the models that it joins
    # of a combination, how much each two of its parts differ on the STS data sets of all years
    between_parts: list[BetweenParts]
    train: dict[str, Any]  # the contents of train.json


__all__ = ["EmbeddingScorer", "Scorer", "evaluate", "evaluate_model", "evaluate_system", "gather"]

#: The keys of a task's file that eval.json takes over.
_KEPT = ("task", "files", "unknown_languages", "overlap", "why", "parts")


def evaluate(
    scorer: Scorer,
    *,
    languages: Sequence[str],
    sts: Path | str | None = None,
    tatoeba: Mapping[str, tuple[Path, Path]] | None = None,
    files: Mapping[str, Path] | None = None,
    resamples: int = EvaluateBlock().resamples,
    seed: int = 0,
    resampled: dict[str, Floats] | None = None,
) -> dict[str, Any]:
    r"""Score a system on the standard tasks, as far as the model's languages allow.

    Args:
        scorer: the system.
        languages: the model's languages, as in the config; sets in others are skipped, with the reason.
        sts: a zip archive or folder of STS sets.
        tatoeba: language -> its two files (language's side, English side).
        files: the user's own STS sets, name -> file of ``score \t sentence \t sentence``.
        resamples, seed: number and seed of bootstrap resamples for the 95% intervals.
        resampled: filled with each score in each resample, float64 (resamples,), by the names of
            :func:`psp.models.scores.compared_metrics`. Systems share the same resamples, so differences can be taken
            per resample.

    Returns:
        ``conditions``; ``tasks``, for each its ``parts`` and their scores; ``sets``, the checksum of each set
        (:mod:`psp.text.published_sets`); and ``skipped``: a list of ``set`` and ``why``.

    Raises:
        DataError: a file is missing or malformed, or the archive holds no STS data at all.
    """
    sources = Sources(
        languages=tuple(languages),
        sts=None if sts is None else str(sts),
        tatoeba={language: [str(path) for path in paths] for language, paths in (tatoeba or {}).items()},
        files={name: str(path) for name, path in (files or {}).items()},
    )
    results: dict[str, dict[str, Any]] = {}
    drawn: dict[str, dict[str, Floats]] = {}
    for name, settings in by_default(sources).items():
        drawn[name] = {}
        results[name] = evaluate_task(
            scorer, settings, name=name, resamples=resamples, seed=seed, resampled=drawn[name]
        )
    conditions = {"confidence": bootstrap.CONFIDENCE, "resamples": resamples, "seed": seed}
    draws = {} if resampled is None else resampled
    return {"conditions": conditions, **gathered(results, drawn, not_scored(sources), draws)}


def gathered(
    results: Mapping[str, Mapping[str, Any]],
    drawn: Mapping[str, Mapping[str, Floats]],
    skipped: Sequence[Mapping[str, str]],
    resampled: dict[str, Floats],
) -> dict[str, Any]:
    """Combine the results of :func:`psp.evaluation.task.evaluate_task` on each task.

    Args:
        results: by the task's name.
        drawn: the scores of each in each resample, by ``<part>/<metric>``.
        skipped: :func:`psp.evaluation.tasks.base.not_scored`.
        resampled: filled as by :func:`evaluate`.

    Returns:
        ``tasks``, ``sets`` and ``skipped``, as :func:`evaluate`.
    """
    tasks: dict[str, Any] = {}
    missing, sets = list[dict[str, str]](), dict[str, str]()
    for name, result in results.items():
        paths = Task.classes[result["task"]].paths
        settings = {key: value for key, value in result["settings"].items() if key not in paths}
        tasks[name] = {"settings": settings, **{key: result[key] for key in _KEPT if key in result}}
        missing += result.get("skipped", [])
        sets |= result.get("sets", {})
        for part, of in result["parts"].items():
            for place, (metric, score) in enumerate(of["figures"].items()):
                compared = "test" in of and not of.get("detail") and score.get("compared", True)
                if compared and f"{part}/{metric}" in drawn[name]:
                    resampled[name_of(name, part, metric if place else "")] = drawn[name][f"{part}/{metric}"]
    return {"tasks": tasks, "sets": sets, "skipped": [*missing, *map(dict, skipped)]}


def gather(
    files: Mapping[str, Path],
    out: Path | str,
    *,
    name: str,
    resamples: int,
    seed: int,
    skipped: Sequence[Mapping[str, str]],
    info: Mapping[str, Any] | None = None,
    resampled: Path | str | None = None,
) -> dict[str, Any]:
    """Write eval.json from the files of its tasks, which jobs of their own have written.

    Args:
        files: tasks/<name>.json of each task, by its name; the resamples lie beside.
        out, name, info, resampled: as for :func:`evaluate_system`.
        resamples, seed: of all of them.
        skipped: :func:`psp.evaluation.tasks.base.not_scored`.

    Raises:
        DataError: a file is missing or damaged, or has other resamples.
    """
    body, drawn = gathered_files(files, resamples=resamples, seed=seed, skipped=skipped)
    return _write({"format": FORMAT, "model": name, **(info or {}), **body}, drawn, out, resampled)


def gathered_files(
    files: Mapping[str, Path], *, resamples: int, seed: int, skipped: Sequence[Mapping[str, str]]
) -> tuple[dict[str, Any], dict[str, Floats]]:
    """The body of :func:`evaluate` from files of tasks, and each score in each resample."""
    conditions = {"confidence": bootstrap.CONFIDENCE, "resamples": resamples, "seed": seed}
    results, drawn = {}, {}
    for task, path in files.items():
        results[task], drawn[task] = scored_task(path)
        if results[task]["conditions"] != conditions:
            raise DataError("scored by other resamples; delete it and make it again", path)
    draws: dict[str, Floats] = {}
    return {"conditions": conditions, **gathered(results, drawn, skipped, draws)}, draws


def evaluate_model(
    model_dir: Path | str,
    out: Path | str,
    *,
    name: str,
    info: Mapping[str, Any] | None = None,
    resampled: Path | str | None = None,
    **tests: Any,
) -> dict[str, Any]:
    """Evaluate a trained model and write eval.json.

    Args:
        model_dir: the model's folder.
        out: path of eval.json; written atomically.
        name: the model's name in the config.
        info: further entries for eval.json, such as the recipe and the keys that differ from it.
        resampled: path for the scores in each resample (:mod:`psp.evaluation.resamples`); None: not written.
        tests: as for :func:`evaluate`.

    Returns:
        What was written: ``format``, ``model``, ``info``'s entries, then the body of :func:`evaluate`.

    Raises:
        DataError: as :func:`evaluate`; or ``model_dir`` holds no model.
    """
    return evaluate_system(EmbeddingScorer(load(model_dir)), out, name=name, info=info, resampled=resampled, **tests)


def evaluate_system(
    scorer: Scorer,
    out: Path | str,
    *,
    name: str,
    info: Mapping[str, Any] | None = None,
    resampled: Path | str | None = None,
    **tests: Any,
) -> dict[str, Any]:
    """Evaluate any system as :func:`evaluate_model` evaluates a model.

    Raises:
        DataError: as :func:`evaluate`.
    """
    drawn: dict[str, Floats] = {}
    result = {"format": FORMAT, "model": name, **(info or {}), **evaluate(scorer, resampled=drawn, **tests)}
    return _write(result, drawn, out, resampled)


def _write(
    result: dict[str, Any], drawn: Mapping[str, Floats], out: Path | str, resampled: Path | str | None
) -> dict[str, Any]:
    if resampled is not None:
        resample_files.write(resampled, drawn, result["conditions"])
    write_json(out, result)
    return result


def decontaminated(settings: Mapping[str, Any], reports: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return eval.json's entry on decontamination: the filter's settings, and the number of pairs it dropped.

    Args:
        settings: the config's block ``filters.decontaminate``.
        reports: the filter report of each corpus.
    """
    counts = (
        count for report in reports for why, count in report["dropped"].items() if why.startswith("decontaminate: ")
    )
    return {**settings, "pairs": sum(counts)}
