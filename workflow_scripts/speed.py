"""Measure how fast a model embeds, beside the peers that are installed."""

from pathlib import Path

from psp.logs import job
from psp.speed.run import measure_speed

with job(snakemake.log[0]):
    measure_speed(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.input.store),
        Path(snakemake.output.json),
        Path(snakemake.output.chart),
        **snakemake.params.settings,
    )
