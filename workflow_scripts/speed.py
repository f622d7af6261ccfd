"""Measure how fast a model embeds."""

from pathlib import Path

from psp.logs import job
from psp.speed import measure_speed

with job(snakemake.log[0]):
    measure_speed(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.input.store),
        Path(snakemake.output[0]),
        **snakemake.params.settings,
    )
