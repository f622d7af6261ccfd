# Mix a model's corpora into one shuffled file, and hold out a slice for validation.
def deduped(wildcards):
    downloads(model(wildcards))
    return of_corpora("dedupe", ".tsv")(wildcards)


def to_mix(wildcards):
    """Return what is read: the corpora, or what the jobs that share them have made."""
    if jobs(wildcards, "mix") == 1:
        return {"corpora": deduped(wildcards)}
    reports = [
        of_jobs(wildcards, "mix", "json", step=step)["json"]
        for step in ("split-", "sort-", "part-")
    ]
    return {
        **of_jobs(wildcards, "mix", "tsv", "heldout.tsv", step="part-"),
        "json": sum(reports, []),
    }


rule mix:
    input:
        unpack(to_mix),
    output:
        pairs=scratch("results/{model}/pairs/mix.tsv"),
        heldout="results/{model}/pairs/heldout.tsv",
        report="results/{model}/pairs/mix.json",
    log:
        "results/{model}/logs/mix.log",
    benchmark:
        "results/{model}/benchmarks/mix.tsv"
    wildcard_constraints:
        model=FROM_STORE,
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(60, rates.MIX_RATE),
    params:
        labels=lambda wildcards: [part.label for part in model(wildcards).parts],
        text=lambda wildcards: [
            index for index, part in enumerate(model(wildcards).parts) if part.is_text
        ],
        heldout=setting("development", "heldout"),
        shards=setting("mix", "buckets"),
        seed=attribute("seed"),
        code=fingerprint("psp.pairs.mix"),
        part=(1, 1),  # which of how many jobs this is
    message:
        "Mixing the corpora of {wildcards.model}"
    script:
        "../workflow_scripts/mix.py"


# The same for a transformer, which is trained on the text itself: it is kept.
use rule mix as mix_text with:
    output:
        pairs="results/{model}/pairs/mix.tsv",
        heldout="results/{model}/pairs/heldout.tsv",
        report="results/{model}/pairs/mix.json",
    log:
        "results/{model}/logs/mix_text.log",
    benchmark:
        "results/{model}/benchmarks/mix_text.tsv"
    wildcard_constraints:
        model=FROM_TEXT,
    message:
        "Mixing the corpora of {wildcards.model}, a transformer"


# Many pairs are split among jobs: each sorts a part of the corpora by ranges of the pairs' hashes,
use rule mix as mix_split with:
    input:
        corpora=deduped,
    output:
        pairs=temp("results/{model}/pairs/mix/split-{shard}-of-{shards}.tsv"),
        report=temp("results/{model}/pairs/mix/split-{shard}-of-{shards}.json"),
    log:
        "results/{model}/logs/mix/split-{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/mix/split-{shard}-of-{shards}.tsv"
    wildcard_constraints:
        model=MODEL_OR_TRANSLATOR,
    params:
        part=shard_of("mix"),
    message:
        "Splitting the pairs of {wildcards.model}, part {wildcards.shard} of {wildcards.shards}"


# then removes the duplicates of a range and shuffles it,
use rule mix_split as mix_sort with:
    input:
        unpack(
            lambda wildcards: of_jobs(wildcards, "mix", "tsv", "json", step="split-")
        ),
    output:
        pairs=temp("results/{model}/pairs/mix/sort-{shard}-of-{shards}.tsv"),
        report=temp("results/{model}/pairs/mix/sort-{shard}-of-{shards}.json"),
    log:
        "results/{model}/logs/mix/sort-{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/mix/sort-{shard}-of-{shards}.tsv"
    message:
        "Shuffling the pairs of {wildcards.model}, part {wildcards.shard} of {wildcards.shards}"


# and leaves out of it what is held out. The first rule joins these.
use rule mix_split as mix_part with:
    input:
        unpack(lambda wildcards: of_jobs(wildcards, "mix", "tsv", "json", step="sort-")),
    output:
        pairs=temp("results/{model}/pairs/mix/part-{shard}-of-{shards}.tsv"),
        heldout=temp("results/{model}/pairs/mix/part-{shard}-of-{shards}.heldout.tsv"),
        report=temp("results/{model}/pairs/mix/part-{shard}-of-{shards}.json"),
    log:
        "results/{model}/logs/mix/part-{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/mix/part-{shard}-of-{shards}.tsv"
    message:
        "Setting pairs of {wildcards.model} aside, part {wildcards.shard} of {wildcards.shards}"
