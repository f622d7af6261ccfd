"""Sample all pairs of a model."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.samples import SampledCorpus, sample_all

with job(snakemake) as snakemake:
    inputs, outputs, params = snakemake.input, snakemake.output, snakemake.params
    sample_all(
        [
            SampledCorpus(file=file, filtered=Path(filtered), **about)
            for about, file, filtered in zip(params.corpora, params.origins, inputs, strict=True)
        ],
        Path(outputs.pairs),
        Path(outputs.report),
        seed=params.seed,
        cap=params.pairs,
    )
