"""Write the scores of several models as one table."""

from pathlib import Path

from psp.core.logs import job
from psp.models.summary import write

with job(snakemake.log[0]):
    write([Path(file).parent for file in snakemake.input], Path(snakemake.output[0]))
