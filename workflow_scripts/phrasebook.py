"""Write the demo's corpora and evaluation sets."""

from pathlib import Path

from psp.core.logs import job
from psp.corpora import phrasebook

with job(snakemake.log[0]):
    phrasebook.generate(Path(snakemake.output.truth).parent, **snakemake.params.settings)
