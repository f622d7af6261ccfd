"""Plot the validation scores of a model's variants against pairs seen and against time."""

from pathlib import Path

from psp.core.scripts import job
from psp.report.curve import draw_variants

with job(snakemake) as snakemake:
    runs = {
        name: {seed: Path(folder) / "train" for seed, folder in seeds.items()}
        for name, seeds in snakemake.params.variants.items()
    }
    for against in ("pairs", "seconds"):
        draw_variants(snakemake.wildcards.model, runs, Path(snakemake.output[against]), against=against)
