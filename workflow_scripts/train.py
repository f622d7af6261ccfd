"""Train embeddings, or a variant of them."""

from pathlib import Path

from psp.core.scripts import job
from psp.training import grid
from psp.training.loop import Training

with job(snakemake) as snakemake:
    params, settings = snakemake.params, dict(snakemake.params.training)
    if params.searched:  # take what the best point of the grid has
        found = grid.report(dict(zip(params.searched, snakemake.input.points, strict=True)), params.searched)
        settings["train"] = {**settings["train"], **params.searched[found["best"]]}
    Training.configured(
        snakemake.input,
        settings,
        params.job,
        seed=params.seed,
        version=params.version,
        out_dir=Path(snakemake.output[0]).parent,
        train_dir=Path(snakemake.output.report).parent,
    ).run()
