"""Compare the deciles of a model."""

from pathlib import Path

from psp.core.scripts import job
from psp.training.deciles import gather

with job(snakemake) as snakemake:
    params = snakemake.params
    gather(
        params.points,
        params.reports,
        Path(snakemake.output[0]),
        model=snakemake.wildcards.model,
        settings=params.settings,
        development=params.development,
    )
