"""Write a model's page."""

from pathlib import Path

from psp.core.scripts import job
from psp.report.report import write

with job(snakemake) as snakemake:
    inputs, out = snakemake.input, Path(snakemake.output[0])
    write(out.parent, out, files=[*inputs.results, *inputs.model], config=snakemake.params.config)
