"""Remove a corpus's duplicates, shuffle it and cut it to its cap."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.dedupe import dedupe_corpus

with job(snakemake) as snakemake:
    params = snakemake.params
    dedupe_corpus(
        Path(snakemake.input[0]),
        *map(Path, snakemake.output),
        corpus=params.corpus,
        cap=params.cap,
        seed=params.seed,
    )
