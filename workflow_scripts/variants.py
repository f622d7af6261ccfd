"""Compare the variants of a model by the figures of all their seeds."""

from pathlib import Path

from psp.evaluation.variants import gather
from psp.logs import job

with job(snakemake.log[0]):
    gather(
        {
            name: {seed: Path(folder) for seed, folder in seeds.items()}
            for name, seeds in snakemake.params.variants.items()
        },
        Path(snakemake.input.compare),
        Path(snakemake.output[0]),
        model=snakemake.wildcards.model,
    )
