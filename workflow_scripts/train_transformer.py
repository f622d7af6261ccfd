"""Train a transformer on a model's pairs, or a variant of it."""

from pathlib import Path

from psp.core.logs import job
from psp.training.launch import train_in_processes
from psp.training.transformer.configured import train_configured_transformer

with job(snakemake.log[0]):
    inputs, params = snakemake.input, snakemake.params
    heldout = inputs.get("heldout")
    train_in_processes(
        train=train_configured_transformer,
        pairs=Path(inputs.pairs),
        out_dir=Path(snakemake.output[0]).parent,
        train_dir=Path(snakemake.output.report).parent,
        settings={**params.settings, **params.job},
        processes=params.processes,
        gpus=params.gpus,
        log=Path(snakemake.log[0]),
        base=params.base,
        # The user's own set comes from the rule development_pairs; a published one is named.
        sts=inputs.get("sts", params.development["sts"]),
        heldout=heldout and Path(heldout),
        archive=inputs.get("archive"),
        languages=params.languages,
        recipe=params.recipe,
        seed=params.seed,
        threads=params.threads,
        code=params.code,
        teacher=Path(inputs.teacher[0]) if inputs.teacher else None,
    )
