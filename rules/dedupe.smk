# Remove a corpus's duplicates, shuffle its pairs and cut it to its cap.
def filtered(wildcards):
    """Return a corpus's pairs after the filters, and after ranking if it is ranked."""
    stage = "rank" if part_of(wildcards).ranked else "filter"
    return f"results/{wildcards.model}/pairs/{stage}/{wildcards.part}.tsv"


def to_dedupe(wildcards):
    """Return what is read: corpora; or for a range of a large one its parts, and for all of it the ranges."""
    if wildcards.get("part") and jobs(wildcards, "dedupe") > 1:
        step = "split-" if wildcards.get("shard") else ""
        return of_jobs(wildcards, "dedupe", "tsv", "json", step=step)
    return {"filtered": [filtered(one) for one in each(wildcards).values()]}


for _of in stage_rules("dedupe"):

    rule:
        name:
            _of.name
        input:
            unpack(to_dedupe),
        output:
            pairs=[
                scratch(f"results/{{model}}/pairs/dedupe/{label}.tsv")
                for label in _of.labels
            ],
            report=[
                f"results/{{model}}/pairs/dedupe/{label}.json" for label in _of.labels
            ],
        log:
            f"results/{{model}}/logs/{_of.log}.log",
        benchmark:
            f"results/{{model}}/benchmarks/{_of.log}.tsv"
        wildcard_constraints:
            model=_of.models,
        threads: _of.at_once
        resources:
            mem_mb=mem_mb(1000 * min(_of.at_once, 2)),
            runtime=runtime(60, rates.DEDUPE_RATE),
        params:
            caps=lambda wildcards: [
                [part_of(one).corpus, part_of(one).cap]
                for one in each(wildcards).values()
            ],
            shards=setting("mix", "buckets"),
            seed=attribute("seed"),
            code=fingerprint("psp.pairs.dedupe"),
            part=(1, 1),  # which of how many jobs this is
        message:
            f"Removing duplicates of {_of.what} for {{wildcards.model}}"
        script:
            "../workflow_scripts/dedupe.py"


# A large corpus is split among jobs: each sorts a part of it by ranges of the pairs' hashes ...
use rule dedupe as dedupe_split with:
    input:
        filtered=filtered,
    output:
        pairs=temp("results/{model}/pairs/dedupe/{part}/split-{shard}-of-{shards}.tsv"),
        report=temp(
            "results/{model}/pairs/dedupe/{part}/split-{shard}-of-{shards}.json"
        ),
    log:
        "results/{model}/logs/dedupe/{part}/split-{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/dedupe/{part}/split-{shard}-of-{shards}.tsv"
    params:
        part=shard_of("dedupe"),
    message:
        "Splitting {wildcards.part} for {wildcards.model}, part {wildcards.shard} of {wildcards.shards}"


# ... then each removes the duplicates of one range. The first rule joins these.
use rule dedupe as dedupe_shard with:
    output:
        pairs=temp("results/{model}/pairs/dedupe/{part}/{shard}-of-{shards}.tsv"),
        report=temp("results/{model}/pairs/dedupe/{part}/{shard}-of-{shards}.json"),
    log:
        "results/{model}/logs/dedupe/{part}/{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/dedupe/{part}/{shard}-of-{shards}.tsv"
    params:
        part=shard_of("dedupe"),
    message:
        "Removing duplicates of {wildcards.part} for {wildcards.model}, part {wildcards.shard} of {wildcards.shards}"
