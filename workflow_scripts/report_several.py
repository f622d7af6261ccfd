"""Write a page that compares several models."""

from pathlib import Path

from psp.core.logs import job
from psp.report.several import write

with job(snakemake.log[0]):
    write([Path("results", name) for name in snakemake.params.models], Path(snakemake.output[0]))
