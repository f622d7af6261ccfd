"""Write a model's card, with its scores and its data."""

from pathlib import Path

from psp.core.scripts import job
from psp.models.card import write_with_scores

with job(snakemake) as snakemake:
    write_with_scores(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.input.evaluate),
        [Path(path) for path in snakemake.input.data],
        Path(snakemake.output[0]),
    )
