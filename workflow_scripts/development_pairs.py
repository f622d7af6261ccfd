"""Keep a development set clear of the sets that the model is evaluated on."""

from pathlib import Path

from psp.core.scripts import job
from psp.evaluation.development_pairs import clear
from psp.evaluation.judged import read
from psp.evaluation.scored import scored
from psp.evaluation.testsets import read_file

with job(snakemake) as snakemake:
    own, entry = snakemake.input.development, snakemake.params.entry
    clear(
        read(entry, f"development.sets.{snakemake.wildcards.set}") if entry else read_file(own),
        scored(snakemake.params.sets),
        Path(snakemake.output.pairs),
        Path(snakemake.output.report),
        source=own if isinstance(own, str) else own[0],
    )
