"""Train a model on its store."""

from pathlib import Path

from psp.evaluation.development import Development
from psp.logs import job
from psp.training import train

with job(snakemake.log[0]):
    inputs, params = snakemake.input, snakemake.params
    settings = {**params.train, "log_every": params.log_every, "seed": params.seed}
    init_from = settings.pop("init_from")
    sts = params.development["sts"]
    heldout = inputs.get("heldout")
    train(
        Path(inputs.store),
        Path(inputs.sentencepiece),
        Path(snakemake.output.config).parent,
        Path(snakemake.output.report).parent,
        settings,
        Development.load(sts, heldout and Path(heldout), inputs.get("archive")) if sts or heldout else None,
        threads=snakemake.threads,
        model_config={
            "languages": list(params.languages),
            "lower_case": params.lower_case,
            "segment": {
                language: {"name": how["segmenter"], "cut_all": how["cut_all"]}
                for language, how in params.segment.items()
                if how["inference"] and language in params.languages
            },
            "recipe": params.recipe,
        },
        init_from=init_from and Path(init_from),
    )
