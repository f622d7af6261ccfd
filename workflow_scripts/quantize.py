"""Evaluate a trained model with smaller tables."""

from pathlib import Path

from psp.evaluation.quantized import measure
from psp.jobs import tests
from psp.logs import job

with job(snakemake.log[0]):
    measure(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.output[0]),
        name=snakemake.wildcards.model,
        dtypes=snakemake.params.tables["dtypes"],
        dims=snakemake.params.tables["dims"],
        **tests(snakemake.input, snakemake.params),
    )
