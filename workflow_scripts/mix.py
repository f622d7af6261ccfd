"""Mix a model's corpora: remove duplicates across them, shuffle, hold out a slice; clean up after former corpora."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.mix import mix
from psp.pairs.prune_stale import prune_stale

with job(snakemake) as snakemake:
    mix(
        list(zip(snakemake.params.labels, map(Path, snakemake.input), strict=True)),
        Path(snakemake.output.pairs),
        Path(snakemake.output.heldout),
        Path(snakemake.output.report),
        heldout_pairs=snakemake.params.heldout,
        seed=snakemake.params.seed,
        shards=snakemake.params.shards,
        text=snakemake.params.text,
    )
    prune_stale(Path(snakemake.output.report).parent, snakemake.params.labels)
