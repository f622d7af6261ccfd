"""Make a lexicon from a model's pairs, and score it on the word sets of its tasks."""

from pathlib import Path

from psp.core.scripts import job
from psp.evaluation.lexicon import write_lexicon
from psp.pairs.lexicon.sentences import SentenceSource

with job(snakemake) as snakemake:
    params, output = snakemake.params, snakemake.output
    write_lexicon(
        [SentenceSource(label, Path(path)) for label, path in zip(params.labels, snakemake.input.pairs, strict=True)],
        Path(output.pairs),
        Path(output.report),
        model=snakemake.wildcards.model,
        **{key: getattr(params, key) for key in ("languages", "settings", "tasks", "resamples", "seed", "left_out")},
    )
