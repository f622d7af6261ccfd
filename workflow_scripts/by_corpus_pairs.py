"""Sample one corpus."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.samples import sample_corpus

with job(snakemake) as snakemake:
    sample_corpus(Path(snakemake.input[0]), Path(snakemake.output[0]), cap=snakemake.params.pairs)
