"""Evaluate a trained model with smaller tables."""

from pathlib import Path

from psp.evaluation.quantized import measure
from psp.logs import job

with job(snakemake.log[0]):
    inputs, params = snakemake.input, snakemake.params
    measure(
        Path(inputs.model[0]).parent,
        Path(snakemake.output[0]),
        name=snakemake.wildcards.model,
        dtypes=params.tables["dtypes"],
        dims=params.tables["dims"],
        languages=params.languages,
        sts=inputs.get("sts"),
        tatoeba={language: tuple(map(Path, files)) for language, files in params.tatoeba.items()},
        files={name: Path(file) for name, file in params.settings["files"].items()},
        resamples=params.settings["resamples"],
        seed=params.seed,
    )
