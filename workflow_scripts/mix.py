"""Mix a model's corpora: remove duplicates across them, shuffle, hold out a slice; clean up after former corpora.

Of many pairs, do one job's share of that, or join all shares.
"""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.dedupe import split_rows
from psp.pairs.mix import PURPOSE, gather_mix, mix, part_range, sort_range
from psp.pairs.prune_stale import prune_stale

with job(snakemake) as snakemake:
    inputs, params, outputs = snakemake.input, snakemake.params, list(map(Path, snakemake.output))
    number, jobs = params.part
    if snakemake.rule == "mix_split":
        corpora = list(map(Path, inputs.corpora))
        split_rows(corpora, *outputs, purpose=PURPOSE, part=(number, jobs), seed=params.seed, mixed=True)
    elif snakemake.rule == "mix_sort":
        files = list(zip(map(Path, inputs.tsv), map(Path, inputs.json), strict=True))
        sort_range(files, number, *outputs, seed=params.seed, shards=params.shards)
    elif snakemake.rule == "mix_part":
        files = list(zip(map(Path, inputs.tsv), map(Path, inputs.json), strict=True))
        part_range(files, number, *outputs, text=params.text, heldout_pairs=params.heldout)
    else:  # mix, or the same for a transformer or a translator
        if corpora := inputs.get("corpora"):
            files = list(zip(params.labels, map(Path, corpora), strict=True))
            how = {"text": params.text, "seed": params.seed, "shards": params.shards}
            mix(files, *outputs, heldout_pairs=params.heldout, **how)
        else:
            files = list(zip(map(Path, inputs.tsv), map(Path, inputs["heldout.tsv"]), strict=True))
            reports = list(map(Path, inputs.json))
            gather_mix(params.labels, files, reports, *outputs, heldout_pairs=params.heldout)
        prune_stale(outputs[-1].parent, params.labels)
