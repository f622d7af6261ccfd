# Encode the pairs as ids in HDF5.
def to_store(wildcards):
    """Return what is read: the pairs, or the stores of the jobs that share them."""
    if jobs(wildcards, "store") > 1 and not wildcards.get("shard"):
        return of_jobs(wildcards, "store", "h5")
    return {"pairs": training_pairs(wildcards), "vocabulary": vocabulary(wildcards)}


rule store:
    input:
        unpack(to_store),
    output:
        "results/{model}/store.h5",
    log:
        "results/{model}/logs/store.log",
    benchmark:
        "results/{model}/benchmarks/store.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(60, rates.STORE_RATE),
    params:
        languages=attribute("languages"),
        corpora=lambda wildcards: [part.label for part in model(wildcards).parts],
        corpus_languages=lambda wildcards: [
            list(part.languages) for part in model(wildcards).parts
        ],
        max_pieces=setting("store", "max_pieces"),
        code=fingerprint("psp.pairs.store"),
        part=(1, 1),  # which of how many jobs this is
    message:
        "Encoding the pairs of {wildcards.model}"
    script:
        "../workflow_scripts/store.py"


# One of the jobs that many pairs are split among. The rule above then joins their stores.
use rule store as store_shard with:
    output:
        temp("results/{model}/pairs/store/{shard}-of-{shards}.h5"),
    log:
        "results/{model}/logs/store/{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/store/{shard}-of-{shards}.tsv"
    threads: 1
    params:
        part=shard_of("store"),
    message:
        "Encoding the pairs of {wildcards.model}, part {wildcards.shard} of {wildcards.shards}"
