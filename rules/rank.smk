# Keep the pairs of a corpus whose rank by a value lies in some deciles.
def overlap_settings(wildcards):
    """Return how the filter counts shared trigrams, if ranking is by these."""
    part = part_of(wildcards)
    wanted = part.filters["overlap"] if part.rank["by"] == "overlap" else {}
    return {key: wanted[key] for key in ("repeated", "tokens") if key in wanted}


rule rank:
    input:
        "results/{model}/pairs/filter/{part}.tsv",
    output:
        pairs=scratch("results/{model}/pairs/rank/{part}.tsv"),
        report="results/{model}/pairs/rank/{part}.json",
    log:
        "results/{model}/logs/rank/{part}.log",
    benchmark:
        "results/{model}/benchmarks/rank/{part}.tsv"
    wildcard_constraints:
        model=MODEL_OR_TRANSLATOR,
    threads: 1
    resources:
        mem_mb=mem_mb(rank_mb),
        runtime=runtime(60, min(rates.RANK_RATE.values())),
    params:
        rank=lambda wildcards: dict(part_of(wildcards).rank),
        overlap=overlap_settings,
        corpus=lambda wildcards: part_of(wildcards).corpus,
        seed=attribute("seed"),
        # For an error: some may have the scores that another lacks. Not compared.
        others=lambda wildcards, input: [
            (part.label, part.kind, own_file(part), part.names)
            for part in model(wildcards).parts
            if not part.sources
        ],
        version=VERSION["rank"],
    message:
        "Ranking {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/rank.py"
