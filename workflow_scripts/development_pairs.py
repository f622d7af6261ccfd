"""Keep the user's own development set clear of the sets that the model is evaluated on."""

from pathlib import Path

from psp.core.logs import job
from psp.evaluation.development_pairs import clear
from psp.evaluation.scored import scored

with job(snakemake.log[0]):
    clear(
        Path(snakemake.input.development),
        scored(snakemake.params.sets),
        Path(snakemake.output.pairs),
        Path(snakemake.output.report),
    )
