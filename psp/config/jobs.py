"""Turn the inputs and params of workflow jobs into arguments of the library's functions.

All rules that run the test sets share the same params. Inputs and params are
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
    """Arguments of :func:`psp.evaluation.evaluate.gathered_files`: the files that the jobs of tasks wrote.

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
