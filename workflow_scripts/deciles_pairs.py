"""Cut the pairs of a model into deciles by a value."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.samples import SampledCorpus, sample_deciles

with job(snakemake) as snakemake:
    inputs, outputs, params = snakemake.input, snakemake.output, snakemake.params
    sample_deciles(
        [
            SampledCorpus(file=file, filtered=Path(filtered), **about)
            for about, file, filtered in zip(params.corpora, params.origins, inputs, strict=True)
        ],
        snakemake.wildcards.by,
        {decile: Path(outputs[f"tenth{decile}"]) for decile in range(1, 11)},
        Path(outputs.report),
        seed=params.seed,
        cap=params.pairs,
    )
