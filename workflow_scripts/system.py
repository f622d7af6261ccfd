"""Score another system on a model's test sets."""

from pathlib import Path

from psp.config.jobs import system, tests
from psp.core.scripts import job
from psp.evaluation.evaluate import evaluate_system
from psp.evaluation.system import scorer_of

with job(snakemake) as snakemake:
    evaluate_system(
        scorer_of(**system(snakemake.input, snakemake.params)),
        Path(snakemake.output.json),
        name=snakemake.wildcards.system,
        resampled=Path(snakemake.output.resamples),
        **tests(snakemake.input, snakemake.params),
    )
