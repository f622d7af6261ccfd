"""Train a model, or a variant of it."""

from pathlib import Path

from psp.core.scripts import job
from psp.training.tune import winner

with job(snakemake) as snakemake:
    params, settings = snakemake.params, dict(snakemake.params.training)
    if snakemake.input.tune:
        settings["train"] = {**settings["train"], **winner(snakemake.input.tune[0])}
    kind = params.kind["of"].training()
    kind.configured(
        snakemake.input,
        settings,
        params.job,
        seed=params.seed,
        version=params.version,
        out_dir=Path(snakemake.output[0]).parent,
        train_dir=Path(snakemake.output.report).parent,
    ).run()
