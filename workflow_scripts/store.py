"""Encode a model's pairs in HDF5."""

from pathlib import Path

from psp.config.jobs import vocabulary
from psp.core.scripts import job
from psp.pairs.store import write_store

with job(snakemake) as snakemake:
    params = snakemake.params
    write_store(
        Path(snakemake.input.pairs),
        vocabulary(snakemake.input),
        Path(snakemake.output[0]),
        languages=params.languages,
        corpora=params.corpora,
        corpus_languages=params.corpus_languages,
        max_pieces=params.max_pieces,
        threads=snakemake.threads,
    )
