"""Turn the inputs and params of workflow jobs into arguments of the library's functions.

All rules that train share the same params, and so do all rules that run the test sets. Inputs and params are
Snakemake's, or any object with such attributes.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

#: Where other libraries' vectors are kept, for all models.
EMBEDDINGS = Path("results/embeddings")
#: Blocks of translations, by translator and texts.
TRANSLATIONS = Path("results/translations")


def vocabulary(inputs: Any) -> Path | list[Path]:
    """The file of a model's vocabulary; of one whose parts are trained together, those of all parts."""
    if isinstance(inputs.vocabulary, str):
        return Path(inputs.vocabulary)
    return [Path(file) for file in inputs.vocabulary]


def training(inputs: Any, params: Any) -> dict[str, Any]:
    """Arguments of :func:`psp.training.launch.train_in_processes`, except the folders and the log.

    Args:
        inputs: ``store``, ``vocabulary``, and the development data, if any: ``sts``, ``heldout``, ``archive``;
            ``init_vectors`` and ``teacher``, lists of at most one file.
        params: ``train`` (what shapes the model), ``seed``, and the others of the rule ``train``.
    """
    heldout = inputs.get("heldout")
    return {
        "store": Path(inputs.store),
        "vocabulary": vocabulary(inputs),
        "settings": {**params.train, "log_every": params.log_every, "seed": params.seed},
        # The user's own set comes from the rule development_pairs; a published one is named.
        "sts": inputs.get("sts", params.development["sts"]),
        "heldout": heldout and Path(heldout),
        "archive": inputs.get("archive"),
        "init_vectors": Path(inputs.init_vectors[0]) if inputs.get("init_vectors") else None,
        "teacher": Path(inputs.teacher[0]) if inputs.get("teacher") else None,
        **{
            key: getattr(params, key)
            for key in (
                "teaching",
                "languages",
                "lower_case",
                "segment",
                "recipe",
                "processes",
                "gpus",
                "threads",
                "checkpoint",
                "code",
                "warn_pairs",
            )
        },
    }


def tests(inputs: Any, params: Any) -> dict[str, Any]:
    """Arguments of :func:`psp.evaluation.evaluate.evaluate`: which test sets, and their bootstrap.

    Args:
        inputs: ``sts``, if the archive is needed.
        params: ``languages``, ``tatoeba``, ``settings`` (the block ``evaluate``) and ``seed``.
    """
    return {
        "languages": params.languages,
        "sts": inputs.get("sts"),
        "tatoeba": {language: tuple(map(Path, files)) for language, files in params.tatoeba.items()},
        "files": {name: Path(file) for name, file in params.settings["files"].items()},
        "resamples": params.settings["resamples"],
        "seed": params.seed,
    }


def gathered(inputs: Any, params: Any) -> dict[str, Any]:
    """Arguments of :func:`psp.evaluation.evaluate.gathered_files`: what the jobs of tasks have written.

    Args:
        inputs: ``tasks``, the files of scores.
        params: ``tasks`` (their names), ``skipped``, ``settings`` (the block ``evaluate``) and ``seed``.
    """
    return {
        "files": {name: Path(file) for name, file in zip(params.tasks, inputs.tasks, strict=True)},
        "resamples": params.settings["resamples"],
        "seed": params.seed,
        "skipped": params.skipped,
    }


def system(inputs: Any, params: Any) -> dict[str, Any]:
    """Arguments of :func:`psp.evaluation.system.scorer_of`: another system than the model.

    Args:
        inputs: ``model`` and ``store``, for baselines.
        params: ``encoder``, ``languages`` and ``seed``.
    """
    return {
        "encoder": params.encoder,
        "languages": params.languages,
        "cache": EMBEDDINGS,
        "model_dir": Path(inputs.model[0]).parent if inputs.model else None,
        "store": Path(inputs.store) if inputs.store else None,
        "seed": params.seed,
    }
