"""Compare the variants of a model over all their seeds."""

from pathlib import Path

from psp.core.scripts import job
from psp.evaluation.variants import gather
from psp.training import grid

with job(snakemake) as snakemake:
    searched = snakemake.params.searched
    gather(
        {
            name: {seed: Path(folder) for seed, folder in seeds.items()}
            for name, seeds in snakemake.params.variants.items()
        },
        {name: Path(folder) for name, folder in snakemake.params.systems.items()},
        Path(snakemake.output[0]),
        model=snakemake.wildcards.model,
        grid=grid.report(dict(zip(searched, snakemake.input.points, strict=True)), searched) if searched else None,
    )
