"""Evaluate quantized versions of a trained model."""

from pathlib import Path

from psp.config.jobs import tests
from psp.core.scripts import job
from psp.evaluation.quantize import measure

with job(snakemake) as snakemake:
    measure(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.output[0]),
        name=snakemake.wildcards.model,
        dtypes=snakemake.params.tables["dtypes"],
        dims=snakemake.params.tables["dims"],
        **tests(snakemake.input, snakemake.params),
    )
