"""Train one point of a grid search."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.store import Store
from psp.training.loop import Training

with job(snakemake) as snakemake:
    params = snakemake.params
    # The pairs are known only now: all points are compared before any of them trains.
    with Store(snakemake.input.store) as store:
        where = f"models.{snakemake.wildcards.model}.tune"
        params.tuning.check(params.training["train"], pairs=len(store), where=where)
    Training.configured(
        snakemake.input,
        params.training,
        params.job,
        seed=params.seed,
        version=params.version,
        out_dir=None,
        train_dir=Path(snakemake.output.report).parent,
    ).run()
