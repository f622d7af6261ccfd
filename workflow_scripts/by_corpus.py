"""Compare the corpora of a model."""

from pathlib import Path

from psp.core.logs import job
from psp.training.by_corpus import gather

with job(snakemake.log[0]):
    params = snakemake.params
    gather(
        {
            sample: {
                encoder: {int(seed): Path(file) for seed, file in seeds.items()} for encoder, seeds in encoders.items()
            }
            for sample, encoders in params.points.items()
        },
        {name: Path(file) for name, file in params.reports.items()},
        Path(snakemake.output[0]),
        model=snakemake.wildcards.model,
        settings=params.settings,
        development=params.development,
    )
