# Keep the pairs of a corpus whose rank by a value lies in some deciles.
def overlap_settings(wildcards):
    """Return how the filter counts shared trigrams, if ranking is by these."""
    part = part_of(wildcards)
    wanted = part.filters["overlap"] if part.rank["by"] == "overlap" else {}
    return {key: wanted[key] for key in ("repeated", "tokens") if key in wanted}


def to_rank(wildcards):
    """Return what is read: the corpus, or what the jobs that share it have kept."""
    if jobs(wildcards, "rank") > 1:
        return of_jobs(wildcards, "rank", "tsv", "json")
    return {"filtered": f"results/{wildcards.model}/pairs/filter/{wildcards.part}.tsv"}


rule rank:
    input:
        unpack(to_rank),
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
        code=fingerprint("psp.pairs.rank"),
        part=(1, 1),  # which of how many jobs this is
    message:
        "Ranking {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/rank.py"


# A large corpus is split among jobs: each sorts the values of a part,
use rule rank as rank_values with:
    input:
        filtered="results/{model}/pairs/filter/{part}.tsv",
    output:
        values=temp("results/{model}/pairs/rank/{part}/{shard}-of-{shards}.bin"),
    log:
        "results/{model}/logs/rank/{part}/values-{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/rank/{part}/values-{shard}-of-{shards}.tsv"
    params:
        part=shard_of("rank"),
    message:
        "Sorting the values of {wildcards.part} for {wildcards.model}, part {wildcards.shard} of {wildcards.shards}"


# and finds the bounds in those of all. The first rule joins the pairs that these keep.
use rule rank_values as rank_part with:
    input:
        unpack(lambda wildcards: of_jobs(wildcards, "rank", "bin")),
        filtered="results/{model}/pairs/filter/{part}.tsv",
    output:
        pairs=temp("results/{model}/pairs/rank/{part}/{shard}-of-{shards}.tsv"),
        report=temp("results/{model}/pairs/rank/{part}/{shard}-of-{shards}.json"),
    log:
        "results/{model}/logs/rank/{part}/{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/rank/{part}/{shard}-of-{shards}.tsv"
    message:
        "Ranking {wildcards.part} for {wildcards.model}, part {wildcards.shard} of {wildcards.shards}"
