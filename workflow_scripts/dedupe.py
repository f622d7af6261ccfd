"""Remove corpora's duplicates, shuffle them and cut them to their caps; or one job's share of that for a large one."""

from functools import partial
from pathlib import Path

from psp.core.forks import in_forks
from psp.core.scripts import job
from psp.pairs.dedupe import dedupe_corpus, gather_corpus, purpose, span_of_range, split_rows


def of_several(inputs, output, params):
    """Split a part of a corpus, remove the duplicates of a range of the parts, or join the ranges."""
    out, report = map(Path, output)
    ((corpus, cap),) = params.caps
    if inputs.get("filtered"):
        how = {"purpose": purpose(corpus), "part": params.part, "seed": params.seed}
        split_rows([Path(inputs.filtered)], out, report, mixed=False, **how)
        return
    files = list(zip(map(Path, inputs.tsv), map(Path, inputs.json), strict=True))
    if params.part[1] == 1:
        gather_corpus(files, out, report, cap=cap)
        return
    rows = span_of_range(files, params.part[0])
    dedupe_corpus(rows, out, report, corpus=corpus, cap=cap, seed=params.seed, shards=params.shards)


def of_each(inputs, output, params, threads):
    """Remove the duplicates of each corpus, side by side if there are several."""
    files = zip(params.caps, inputs.filtered, output.pairs, output.report, strict=True)
    calls = [
        partial(
            dedupe_corpus,
            Path(filtered),
            Path(pairs),
            Path(report),
            corpus=corpus,
            cap=cap,
            seed=params.seed,
            shards=params.shards,
        )
        for (corpus, cap), filtered, pairs, report in files
    ]
    in_forks(calls, threads, [Path(file).stat().st_size for file in inputs.filtered])


with job(snakemake) as snakemake:
    if snakemake.params.part[1] > 1 or not snakemake.input.get("filtered"):
        of_several(snakemake.input, snakemake.output, snakemake.params)
    else:
        of_each(snakemake.input, snakemake.output, snakemake.params, snakemake.threads)
