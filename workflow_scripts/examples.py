"""Collect sentences of the test sets that a model gets right and wrong."""

from pathlib import Path

from psp.config.jobs import tests
from psp.core.scripts import job
from psp.evaluation.examples import examples_of_model

with job(snakemake) as snakemake:
    given = tests(snakemake.input, snakemake.params)
    examples_of_model(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.output[0]),
        name=snakemake.wildcards.model,
        **{key: given[key] for key in ("languages", "sts", "tatoeba", "files")},
    )
