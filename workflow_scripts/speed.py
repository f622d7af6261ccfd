"""Measure the embedding speed of a model and of the other systems installed."""

from pathlib import Path

from psp.core.scripts import job
from psp.evaluation.speed.measure import measure_speed
from psp.report.speed_chart import draw

with job(snakemake) as snakemake:
    result = measure_speed(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.input.store),
        Path(snakemake.output.json),
        **snakemake.params.settings,
    )
    draw(result, Path(snakemake.output.chart))
