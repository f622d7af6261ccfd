"""Draw the learning curves of a model."""

from pathlib import Path

from psp.curve import draw
from psp.logs import job

with job(snakemake.log[0]):
    draw([(snakemake.wildcards.model, Path(snakemake.input.metrics).parent)], Path(snakemake.output[0]))
