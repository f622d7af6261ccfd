# Mine pairs from bitext: sentences that share a translation. The bitext is filtered first, by filters of its own, and
# keeps its case and spacing.
def bitext_of(wildcards):
    """Return the filtered pairs of the corpora that a mined or a translated one comes from."""
    part = part_of(wildcards)
    folder = f"results/{wildcards.model}/pairs/{part.of.made_by}/{part.label}"
    return [f"{folder}/{source.label}.tsv" for source in part.sources]


# Params that are not given are inherited; `part_of` (common.smk) knows the wildcard `bitext`.
use rule filter as filter_bitext with:
    output:
        pairs=scratch("results/{model}/pairs/pivot/{part}/{bitext}.tsv"),
        report="results/{model}/pairs/pivot/{part}/{bitext}.json",
        dropped="results/{model}/pairs/pivot/{part}/{bitext}.dropped.tsv",
    log:
        "results/{model}/logs/pivot/{part}/{bitext}.log",
    benchmark:
        "results/{model}/benchmarks/pivot/{part}/{bitext}.tsv"
    params:
        prepared=False,
    message:
        "Filtering {wildcards.bitext}, to mine {wildcards.part} for {wildcards.model}"


rule pivot:
    input:
        bitext_of,
    output:
        pairs=scratch("results/{model}/pairs/pivot/{part}.tsv"),
        report="results/{model}/pairs/pivot/{part}.json",
    log:
        "results/{model}/logs/pivot/{part}.log",
    benchmark:
        "results/{model}/benchmarks/pivot/{part}.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(240),
    params:
        sources=lambda wildcards: [
            [source.label, list(source.languages)]
            for source in part_of(wildcards).sources
        ],
        languages=lambda wildcards: list(part_of(wildcards).languages),
        through=lambda wildcards: part_of(wildcards).through,
        settings=lambda wildcards: dict(part_of(wildcards).pivot),
        seed=attribute("seed"),
        version=VERSION["pivot"],
    message:
        "Mining {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/pivot.py"
