"""Remove corpora's duplicates, shuffle them and cut them to their caps; or one job's share of that for a large one."""

from functools import partial
from pathlib import Path

from psp.core.forks import in_forks
from psp.core.scripts import job
from psp.pairs.dedupe import dedupe_corpus, gather_corpus, purpose, span_of_range, split_rows


def of_each(inputs, output, params, threads):
    """Remove the duplicates of each corpus, side by side if there are several."""
    files = zip(params.caps, inputs.filtered, output.pairs, output.report, strict=True)
    how = {"seed": params.seed, "shards": params.shards}
    calls = [
        partial(dedupe_corpus, Path(filtered), Path(pairs), Path(report), corpus=corpus, cap=cap, **how)
        for (corpus, cap), filtered, pairs, report in files
    ]
    in_forks(calls, threads, [Path(file).stat().st_size for file in inputs.filtered])


def of_one(rule, inputs, outputs, params):
    """Split a part of a large corpus, remove the duplicates of a range of the parts, or join the ranges."""
    ((corpus, cap),) = params.caps
    if rule == "dedupe_split":
        how = {"purpose": purpose(corpus), "part": params.part, "seed": params.seed}
        split_rows([Path(inputs.filtered)], *outputs, mixed=False, **how)
        return
    files = list(zip(map(Path, inputs.tsv), map(Path, inputs.json), strict=True))
    if rule == "dedupe_shard":
        rows = span_of_range(files, params.part[0])
        dedupe_corpus(rows, *outputs, corpus=corpus, cap=cap, seed=params.seed, shards=params.shards)
    else:
        gather_corpus(files, *outputs, cap=cap)


with job(snakemake) as snakemake:
    inputs, rule = snakemake.input, snakemake.rule
    if rule in ("dedupe_split", "dedupe_shard") or inputs.get("tsv"):
        of_one(rule, inputs, map(Path, snakemake.output), snakemake.params)
    else:
        of_each(inputs, snakemake.output, snakemake.params, snakemake.threads)
