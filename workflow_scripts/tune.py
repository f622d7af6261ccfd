"""Collect the points of a grid search and choose the best."""

from pathlib import Path

from psp.core.scripts import job
from psp.training.tune import Tuning

with job(snakemake) as snakemake:
    tuning = Tuning(**snakemake.params.tune)
    tuning.gather(
        dict(zip(tuning.points, map(Path, snakemake.input), strict=True)),
        Path(snakemake.output[0]),
        model=snakemake.wildcards.model,
    )
