"""Train one point of a search over settings."""

from pathlib import Path

from psp.logs import job
from psp.store import Store
from psp.training.launch import train_in_processes

with job(snakemake.log[0]):
    inputs, params = snakemake.input, snakemake.params
    with Store(inputs.store) as store:  # only now are the pairs known: before any point trains, all are compared
        where = f"models.{snakemake.wildcards.model}.tune"
        params.tuning.check(params.train, pairs=len(store), where=where)
    heldout = inputs.get("heldout")
    train_in_processes(
        store=Path(inputs.store),
        sentencepiece_model=Path(inputs.sentencepiece),
        out_dir=None,
        train_dir=Path(snakemake.output.report).parent,
        settings={**params.train, "log_every": params.log_every, "seed": params.seed},
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
