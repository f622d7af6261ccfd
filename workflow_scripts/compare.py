"""Evaluate, beside the model, systems that need no training."""

from pathlib import Path

from psp.evaluation.baselines import compare
from psp.jobs import tests
from psp.logs import job

with job(snakemake.log[0]):
    compare(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.input.store),
        Path(snakemake.output[0]),
        name=snakemake.wildcards.model,
        **tests(snakemake.input, snakemake.params),
    )
