"""Mix a model's corpora: remove duplicates across them, shuffle, hold out a slice; clean up after former corpora.

Of many pairs, do one job's share of that, or join all shares.
"""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.dedupe import split_rows
from psp.pairs.mix import PURPOSE, gather_mix, mix, part_range, sort_range
from psp.pairs.prune_stale import prune_stale

with job(snakemake) as snakemake:
    inputs, params, labels = snakemake.input, snakemake.params, snakemake.params.labels
    number, jobs = params.part
    corpora = list(map(Path, inputs.get("corpora") or []))
    out, *heldout, report = map(Path, snakemake.output)
    kept, seed, shards = {"heldout_pairs": params.heldout}, {"seed": params.seed}, {"shards": params.shards}
    if jobs == 1:
        if corpora:
            files = list(zip(labels, corpora, strict=True))
            mix(files, out, *heldout, report, text=params.text, **kept, **seed, **shards)
        else:
            pairs = [map(Path, inputs[name]) for name in ("tsv", "heldout.tsv")]
            gather_mix(labels, list(zip(*pairs, strict=True)), map(Path, inputs.json), out, *heldout, report, **kept)
        prune_stale(report.parent, labels)
    elif corpora:
        split_rows(corpora, out, report, purpose=PURPOSE, part=params.part, mixed=True, **seed)
    else:
        files = list(zip(map(Path, inputs.tsv), map(Path, inputs.json), strict=True))
        if heldout:
            part_range(files, number, out, *heldout, report, text=params.text, **kept)
        else:
            sort_range(files, number, out, report, **seed, **shards)
