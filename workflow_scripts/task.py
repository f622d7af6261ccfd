"""Score a trained model, or a system compared with it, on one task of the config."""

from pathlib import Path

from psp.config.jobs import system
from psp.core.scripts import job
from psp.evaluation.system import scorer_of
from psp.evaluation.task import evaluate_model_task, evaluate_system_task

with job(snakemake) as snakemake:
    inputs, params, out = snakemake.input, snakemake.params, Path(snakemake.output.json)
    about = {"name": snakemake.wildcards.task, "resamples": params.resamples, "seed": params.seed}
    if params.encoder is None:
        folder = Path(inputs.model[0]).parent
        evaluate_model_task(
            folder, out, params.settings, model=snakemake.wildcards.model, pairs=inputs.store or None, **about
        )
    else:
        evaluate_system_task(
            scorer_of(**system(inputs, params)), out, params.settings, model=snakemake.wildcards.system, **about
        )
