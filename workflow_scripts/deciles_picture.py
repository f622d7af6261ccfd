"""Draw the scores of each decile."""

from pathlib import Path

from psp.core.files import read_json
from psp.core.scripts import job
from psp.report.deciles_table import draw

with job(snakemake) as snakemake:
    draw(read_json(Path(snakemake.input[0])), Path(snakemake.output[0]))
