"""Train a model on its store, or a variant of it."""

from pathlib import Path

from psp.config.jobs import training
from psp.core.logs import job
from psp.training.launch import train_in_processes
from psp.training.tune import winner

with job(snakemake.log[0]):
    arguments = training(snakemake.input, snakemake.params)
    if snakemake.input.tune:
        arguments["settings"] |= winner(snakemake.input.tune[0])
    train_in_processes(
        out_dir=Path(snakemake.output[0]).parent,
        train_dir=Path(snakemake.output.report).parent,
        log=snakemake.log[0],
        **arguments,
    )
