"""Mine pairs from bitext."""

from pathlib import Path

from psp.config.jobs import EMBEDDINGS
from psp.core.scripts import job
from psp.pairs.pivot import Bitext, mine

with job(snakemake) as snakemake:
    params = snakemake.params
    mine(
        [
            Bitext.between(label, Path(path), languages, params.languages, params.through)
            for (label, languages), path in zip(params.sources, snakemake.input, strict=True)
        ],
        Path(snakemake.output.pairs),
        Path(snakemake.output.report),
        languages=tuple(params.languages),
        through=params.through,
        seed=params.seed,
        cache=EMBEDDINGS,
        **{key: value for key, value in params.settings.items() if key != "own_filters"},
    )
