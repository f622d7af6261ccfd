"""Embed the sentences of a model's pairs with its teacher."""

from pathlib import Path

from psp.config.jobs import EMBEDDINGS
from psp.core.scripts import job
from psp.training.teaching.teach import teach

with job(snakemake) as snakemake:
    teach(
        Path(snakemake.input.pairs),
        Path(snakemake.output.targets),
        Path(snakemake.output.report),
        cache=EMBEDDINGS / "teachers",
        settings=snakemake.params.settings,
        corpora=snakemake.params.corpora,
        threads=snakemake.params.threads,
    )
