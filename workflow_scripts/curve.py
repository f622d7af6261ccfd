"""Draw the learning curves of a model."""

from pathlib import Path

from psp.core.scripts import job
from psp.report.curve import draw

with job(snakemake) as snakemake:
    draw([(snakemake.wildcards.model, Path(snakemake.input.metrics).parent)], Path(snakemake.output[0]))
