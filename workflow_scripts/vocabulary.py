"""Collect a model's words or trigrams."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.vocabulary import build_vocabulary

with job(snakemake) as snakemake:
    build_vocabulary(
        Path(snakemake.input[0]),
        Path(snakemake.output.vocabulary),
        kind=snakemake.params.kind,
        report=Path(snakemake.output.report),
        **snakemake.params.settings,
    )
