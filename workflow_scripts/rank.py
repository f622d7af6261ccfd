"""Keep some deciles of one corpus."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.rank import rank_corpus

with job(snakemake) as snakemake:
    rank_corpus(
        Path(snakemake.input[0]),
        Path(snakemake.output.pairs),
        Path(snakemake.output.report),
        corpus=snakemake.params.corpus,
        by=snakemake.params.rank["by"],
        deciles=snakemake.params.rank["deciles"],
        seed=snakemake.params.seed,
        overlap=snakemake.params.overlap,
        others=[tuple(one) for one in snakemake.params.others],
    )
