"""Remove one corpus's duplicates, shuffle it and cut it to its cap."""

from pathlib import Path

from psp.core.logs import job
from psp.pairs.dedupe import dedupe_corpus

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
