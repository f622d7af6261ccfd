"""Remove corpora's duplicates, shuffle them and cut them to their caps."""

from functools import partial
from pathlib import Path

from psp.core.forks import in_forks
from psp.core.scripts import job
from psp.pairs.dedupe import dedupe_corpus

with job(snakemake) as snakemake:
    files = zip(snakemake.params.caps, snakemake.input, snakemake.output.pairs, snakemake.output.report, strict=True)
    calls = [
        partial(
            dedupe_corpus,
            Path(filtered),
            Path(pairs),
            Path(report),
            corpus=corpus,
            cap=cap,
            seed=snakemake.params.seed,
            shards=snakemake.params.shards,
        )
        for (corpus, cap), filtered, pairs, report in files
    ]
    in_forks(calls, snakemake.threads, [Path(file).stat().st_size for file in snakemake.input])
