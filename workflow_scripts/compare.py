"""Combine the scores of a model and of other systems, with their differences."""

from pathlib import Path

from psp.core.scripts import job
from psp.evaluation.compare import compare

with job(snakemake) as snakemake:
    inputs = snakemake.input
    compare(
        tuple(map(Path, inputs.trained)),
        {
            name: tuple(map(Path, files))
            for name, *files in zip(snakemake.params.systems, inputs.systems, inputs.resamples, strict=True)
        },
        Path(snakemake.output[0]),
        name=snakemake.wildcards.model,
        tasks=snakemake.params.tasks,
    )
