"""Train one point of a grid search."""

from pathlib import Path

from psp.config.jobs import training
from psp.core.logs import job
from psp.pairs.store import Store
from psp.training.launch import train_in_processes

with job(snakemake.log[0]):
    params = snakemake.params
    # Only now are the pairs known: before any point trains, all are compared.
    with Store(snakemake.input.store) as store:
        where = f"models.{snakemake.wildcards.model}.tune"
        params.tuning.check(params.train, pairs=len(store), where=where)
    train_in_processes(
        out_dir=None,
        train_dir=Path(snakemake.output.report).parent,
        log=snakemake.log[0],
        **training(snakemake.input, params),
    )
