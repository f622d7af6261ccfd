"""Write the publishing kit of a model, or of a smaller form of it."""

from pathlib import Path

from psp.core.scripts import job
from psp.report.release import release

with job(snakemake) as snakemake:
    inputs, params = snakemake.input, snakemake.params
    release(
        Path(inputs.model[0]).parent,
        Path(inputs.evaluate),
        Path(inputs.data),
        Path(snakemake.output[0]),
        repo=params.repo,
        form=params.form,
        report=Path(inputs.report) if inputs.get("report") else None,
    )
