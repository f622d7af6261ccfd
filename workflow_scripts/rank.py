"""Keep some deciles of one corpus; or do one job's share of that for a large one, or join all shares."""

from pathlib import Path

from psp.core.scripts import job
from psp.pairs.rank import gather_rank, rank_corpus, rank_part, rank_values

with job(snakemake) as snakemake:
    inputs, params, outputs = snakemake.input, snakemake.params, list(map(Path, snakemake.output))
    corpus, by, deciles = params.corpus, params.rank["by"], params.rank["deciles"]
    others = [tuple(other) for other in params.others]
    values = {"by": by, "seed": params.seed, "overlap": params.overlap, "others": others}
    if snakemake.rule == "rank_values":
        rank_values(Path(inputs.filtered), *outputs, corpus=corpus, part=params.part, **values)
    elif snakemake.rule == "rank_part":
        paths = list(map(Path, inputs.bin))
        rank_part(Path(inputs.filtered), paths, *outputs, corpus=corpus, deciles=deciles, part=params.part)
    elif corpora := inputs.get("filtered"):
        rank_corpus(Path(corpora), *outputs, corpus=corpus, deciles=deciles, **values)
    else:
        parts = list(zip(map(Path, inputs.tsv), map(Path, inputs.json), strict=True))
        gather_rank(parts, *outputs, corpus=corpus, by=by, deciles=deciles)
