"""Report what a model was trained on."""

from pathlib import Path

from psp.core.scripts import job
from psp.report.data import CorpusSource, report

with job(snakemake) as snakemake:
    inputs, params = snakemake.input, snakemake.params
    report(
        snakemake.wildcards.model,
        [
            CorpusSource(**{**part, "file": Path(part["file"]), "record": part["record"] and Path(part["record"])})
            for part in params.parts
        ],
        Path(inputs.mix).parent,
        Path(inputs.store),
        Path(snakemake.output.json),
        Path(snakemake.output.text),
        languages=params.languages,
        recipe=params.recipe,
        near=Path(inputs.near) if inputs.near else None,
        warn_pairs=params.warn_pairs,
    )
