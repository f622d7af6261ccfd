"""Train a transformer, or a variant of one."""

from pathlib import Path

from psp.core.scripts import job
from psp.training.transformer import TransformerTraining

with job(snakemake) as snakemake:
    params = snakemake.params
    TransformerTraining.configured(
        snakemake.input,
        params.training,
        params.job,
        seed=params.seed,
        version=params.version,
        out_dir=Path(snakemake.output[0]).parent,
        train_dir=Path(snakemake.output.report).parent,
    ).run()
