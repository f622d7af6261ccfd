"""Write the demo's corpora and evaluation sets."""

import sys
from pathlib import Path

from psp.core.scripts import job

# This script has the same name as the folder beside the library whose code it runs.
sys.path.insert(0, str(Path(snakemake.scriptdir).parent))
import phrasebook

with job(snakemake) as snakemake:
    phrasebook.generate(Path(snakemake.output.truth).parent, **snakemake.params.settings)
