"""Hold pairs out of a translator's training, by sentence."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.translator_heldout import hold_out

with job(snakemake) as snakemake:
    params = snakemake.params
    hold_out(
        Path(snakemake.input[0]),
        Path(snakemake.output.pairs),
        Path(snakemake.output.heldout),
        Path(snakemake.output.report),
        corpora=params.corpora,
        sets=params.sets,
        development=params.development,
    )
