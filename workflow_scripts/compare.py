"""Evaluate, beside the model, systems that need no training."""

from pathlib import Path

from psp.evaluation.baselines import compare
from psp.logs import job

with job(snakemake.log[0]):
    inputs, params = snakemake.input, snakemake.params
    compare(
        Path(inputs.model[0]).parent,
        Path(inputs.store),
        Path(snakemake.output[0]),
        name=snakemake.wildcards.model,
        languages=params.languages,
        sts=inputs.get("sts"),
        tatoeba={language: tuple(map(Path, files)) for language, files in params.tatoeba.items()},
        files={name: Path(file) for name, file in params.settings["files"].items()},
        resamples=params.settings["resamples"],
        seed=params.seed,
    )
