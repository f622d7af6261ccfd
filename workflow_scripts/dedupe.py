"""Remove one corpus's duplicates, shuffle it and cut it to its cap."""

from pathlib import Path

from psp.dedupe import dedupe_corpus
from psp.logs import job

with job(snakemake.log[0]):
    dedupe_corpus(
        Path(snakemake.input[0]),
        Path(snakemake.output.pairs),
        Path(snakemake.output.report),
        corpus=snakemake.params.corpus,
        cap=snakemake.params.cap,
        seed=snakemake.params.seed,
        shards=snakemake.params.shards,
    )
