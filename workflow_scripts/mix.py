"""Mix a model's corpora: remove duplicates across them, shuffle, hold out a slice; clean up after former corpora."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.mix import mix
from psp.pairs.prune_stale import prune_stale

with job(snakemake) as snakemake:
    params, outputs = snakemake.params, list(map(Path, snakemake.output))
    mix(
        list(zip(params.labels, map(Path, snakemake.input), strict=True)),
        *outputs,
        heldout_pairs=params.heldout,
        text=params.text,
        seed=params.seed,
    )
    prune_stale(outputs[-1].parent, params.labels)
