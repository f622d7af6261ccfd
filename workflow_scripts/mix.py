"""Mix a model's corpora: duplicates across them removed, shuffled, a slice held out; sweep up after former corpora."""

from pathlib import Path

from psp.dedupe import mix
from psp.logs import job
from psp.sweep import sweep

with job(snakemake.log[0]):
    mix(
        list(zip(snakemake.params.labels, map(Path, snakemake.input), strict=True)),
        Path(snakemake.output.pairs),
        Path(snakemake.output.heldout),
        Path(snakemake.output.report),
        heldout_pairs=snakemake.params.heldout,
        seed=snakemake.params.seed,
        shards=snakemake.params.shards,
    )
    sweep(Path(snakemake.output.report).parent, snakemake.params.labels)
