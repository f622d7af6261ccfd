"""Combine the scores of a combination of models and those of its parts."""

from pathlib import Path

from psp.config.jobs import gathered
from psp.core.scripts import job
from psp.evaluation.combined import EvaluatedPart, evaluate_combined

with job(snakemake) as snakemake:
    inputs, params = snakemake.input, snakemake.params
    evaluate_combined(
        Path(snakemake.output.json),
        [
            EvaluatedPart(name, weight, Path(evaluation), Path(resamples))
            for (name, weight), evaluation, resamples in zip(
                params.parts, inputs.evaluations, inputs.resamples, strict=True
            )
        ],
        name=snakemake.wildcards.model,
        resampled=Path(snakemake.output.resamples),
        **gathered(inputs, params),
    )
