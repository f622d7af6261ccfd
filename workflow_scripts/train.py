"""Train a model on its store."""

from pathlib import Path

from psp.logs import job
from psp.training.configured import train_configured
from psp.training.tune import winner

with job(snakemake.log[0]):
    inputs, params = snakemake.input, snakemake.params
    settings = {**params.train, "log_every": params.log_every, "seed": params.seed}
    if inputs.tune:
        settings |= winner(inputs.tune[0])
    heldout = inputs.get("heldout")
    train_configured(
        Path(inputs.store),
        Path(inputs.sentencepiece),
        Path(snakemake.output.config).parent,
        Path(snakemake.output.report).parent,
        settings,
        sts=params.development["sts"],
        heldout=heldout and Path(heldout),
        archive=inputs.get("archive"),
        languages=params.languages,
        lower_case=params.lower_case,
        segment=params.segment,
        recipe=params.recipe,
        threads=snakemake.threads,
    )
