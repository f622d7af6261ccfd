"""Train a model on its store."""

from pathlib import Path

from psp.logs import job
from psp.training.launch import train_in_processes
from psp.training.tune import winner

with job(snakemake.log[0]):
    inputs, params = snakemake.input, snakemake.params
    settings = {**params.train, "log_every": params.log_every, "seed": params.seed}
    if inputs.tune:
        settings |= winner(inputs.tune[0])
    heldout = inputs.get("heldout")
    train_in_processes(
        store=Path(inputs.store),
        sentencepiece_model=Path(inputs.sentencepiece),
        out_dir=Path(snakemake.output.config).parent,
        train_dir=Path(snakemake.output.report).parent,
        settings=settings,
        sts=params.development["sts"],
        heldout=heldout and Path(heldout),
        archive=inputs.get("archive"),
        languages=params.languages,
        lower_case=params.lower_case,
        segment=params.segment,
        recipe=params.recipe,
        threads=snakemake.threads,
        processes=params.processes,
        gpus=params.gpus,
        log=snakemake.log[0],
        checkpoint=params.checkpoint,
        code=params.code,
    )
