"""Keep some deciles of one corpus."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.rank import rank_corpus

with job(snakemake) as snakemake:
    params = snakemake.params
    rank_corpus(
        Path(snakemake.input[0]),
        *map(Path, snakemake.output),
        corpus=params.corpus,
        by=params.rank["by"],
        deciles=params.rank["deciles"],
        seed=params.seed,
        overlap=params.overlap,
        others=[tuple(other) for other in params.others],
    )
