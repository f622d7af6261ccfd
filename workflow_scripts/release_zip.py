"""Pack a release as one .zip, with its checksum beside it."""

import logging
from pathlib import Path

from psp.core.scripts import job
from psp.report.release import pack

with job(snakemake) as snakemake:
    packed = Path(snakemake.output.packed)
    digest = pack(Path(snakemake.input[0]), packed, snakemake.params.name)
    logging.getLogger("psp").info("on the web: psp.load_model('https://.../%s#sha256=%s')", packed.name, digest)
