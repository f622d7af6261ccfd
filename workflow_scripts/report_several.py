"""Write a page that compares several models."""

from pathlib import Path

from psp.core.scripts import job
from psp.report.several import write

with job(snakemake) as snakemake:
    write([Path("results", name) for name in snakemake.params.models], Path(snakemake.output[0]))
