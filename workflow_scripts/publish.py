"""Write the mined pairs of a corpus for others to use, with a card."""

from pathlib import Path

from psp.config.jobs import EMBEDDINGS
from psp.core.scripts import job
from psp.report.publish import Published, publish

with job(snakemake) as snakemake:
    inputs, params = snakemake.input, snakemake.params
    publish(
        Path(inputs.mined),
        Path(inputs.filtered),
        Path(inputs.report),
        Path(snakemake.output.pairs),
        Path(snakemake.output.card),
        Published(snakemake.wildcards.part, params.licence, params.sources),
        encoder=params.encoder,
        cache=EMBEDDINGS,
    )
