"""Write the scores of several models as one table."""

from pathlib import Path

from psp.core.scripts import job
from psp.models.summary import write

with job(snakemake) as snakemake:
    write([Path(file).parent for file in snakemake.input], Path(snakemake.output[0]))
