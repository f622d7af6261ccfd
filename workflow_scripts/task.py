"""Score a trained model on one task of the config."""

from pathlib import Path

from psp.core.logs import job
from psp.evaluation.task import evaluate_model_task

with job(snakemake.log[0]):
    evaluate_model_task(
        Path(snakemake.input.model[0]).parent,
        Path(snakemake.output[0]),
        snakemake.params.settings,
        model=snakemake.wildcards.model,
        name=snakemake.wildcards.task,
        resamples=snakemake.params.resamples,
        seed=snakemake.params.seed,
        store=snakemake.input.store,
    )
