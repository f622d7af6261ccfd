"""Encode a model's pairs to HDF5."""

from pathlib import Path

from psp.logs import job
from psp.store import write_store

with job(snakemake.log[0]):
    write_store(
        Path(snakemake.input.pairs),
        Path(snakemake.input.model),
        Path(snakemake.output[0]),
        languages=snakemake.params.languages,
        corpora=snakemake.params.corpora,
        corpus_languages=snakemake.params.corpus_languages,
        max_pieces=snakemake.params.max_pieces,
        threads=snakemake.threads,
    )
