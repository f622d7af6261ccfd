"""Evaluate untrained baselines beside the model."""

from pathlib import Path

from psp.config.jobs import tests
from psp.core.logs import job
from psp.evaluation.compare import compare

with job(snakemake.log[0]):
    compare(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.input.store),
        Path(snakemake.output[0]),
        name=snakemake.wildcards.model,
        **tests(snakemake.input, snakemake.params),
    )
