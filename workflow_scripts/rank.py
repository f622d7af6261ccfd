"""Keep some deciles of one corpus; or do one job's share of that for a large one."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.rank import gather_rank, rank_corpus, rank_part, rank_values

with job(snakemake) as snakemake:
    inputs, params, out = snakemake.input, snakemake.params, list(map(Path, snakemake.output))
    corpus, by, deciles = params.corpus, params.rank["by"], params.rank["deciles"]
    values = {
        "by": by,
        "seed": params.seed,
        "overlap": params.overlap,
        "others": [tuple(one) for one in params.others],
    }
    if not inputs.get("filtered"):
        parts = list(zip(map(Path, inputs.tsv), map(Path, inputs.json), strict=True))
        gather_rank(parts, *out, corpus=corpus, by=by, deciles=deciles)
    elif params.part[1] == 1:
        rank_corpus(Path(inputs.filtered), *out, corpus=corpus, deciles=deciles, **values)
    elif sorted_values := inputs.get("bin"):
        paths = list(map(Path, sorted_values))
        rank_part(Path(inputs.filtered), paths, *out, corpus=corpus, deciles=deciles, part=params.part)
    else:
        rank_values(Path(inputs.filtered), *out, corpus=corpus, part=params.part, **values)
