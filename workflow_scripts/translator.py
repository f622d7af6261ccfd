"""Train a translator."""

from pathlib import Path

from psp.core.scripts import job
from psp.training.translator import train_translator

with job(snakemake) as snakemake:
    inputs, params = snakemake.input, snakemake.params
    report = Path(snakemake.output.report)
    train_translator(
        Path(inputs.pairs),
        Path(inputs.heldout),
        Path(inputs.sentencepiece),
        report.parent / "model",
        report,
        Path(snakemake.output.metrics).parent,
        {**params.settings, **params.job},
        languages=params.languages,
        corpora=params.corpora,
        threads=params.threads,
        seed=params.seed,
        identity={"version": params.version},
    )
