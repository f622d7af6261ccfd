"""Encode a model's pairs, or a part of them, in HDF5; or join the stores of all parts."""

from pathlib import Path

from psp.config.jobs import vocabulary
from psp.core.scripts import job
from psp.pairs.store import gather_stores, write_store

with job(snakemake) as snakemake:
    out = Path(snakemake.output[0])
    if stores := snakemake.input.get("h5"):
        gather_stores(list(map(Path, stores)), out)
    else:
        write_store(
            Path(snakemake.input.pairs),
            vocabulary(snakemake.input),
            out,
            languages=snakemake.params.languages,
            corpora=snakemake.params.corpora,
            corpus_languages=snakemake.params.corpus_languages,
            max_pieces=snakemake.params.max_pieces,
            threads=snakemake.threads,
            part=tuple(snakemake.params.part),
        )
