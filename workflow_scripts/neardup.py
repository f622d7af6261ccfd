"""Remove near-duplicates from a model's mixed pairs."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.neardup import remove_near_duplicates

with job(snakemake) as snakemake:
    remove_near_duplicates(
        Path(snakemake.input[0]),
        Path(snakemake.output.pairs),
        Path(snakemake.output.report),
        Path(snakemake.output.dropped),
        labels=snakemake.params.labels,
        threshold=snakemake.params.threshold,
        seed=snakemake.params.seed,
    )
