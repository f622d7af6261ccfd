# Remove near-duplicates, if the model uses that.
rule neardup:
    input:
        "results/{model}/pairs/mix.tsv",
    output:
        pairs=scratch("results/{model}/pairs/neardup.tsv"),
        report="results/{model}/pairs/neardup.json",
        dropped="results/{model}/pairs/neardup.dropped.tsv",
    log:
        "results/{model}/logs/neardup.log",
    benchmark:
        "results/{model}/benchmarks/neardup.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(lambda wildcards, input: 500 + 2 * input.size_mb),
        runtime=runtime(60, rates.NEARDUP_RATE),
    params:
        labels=lambda wildcards: [part.label for part in model(wildcards).parts],
        threshold=setting("mix", "near_duplicates", "threshold"),
        seed=attribute("seed"),
        version=VERSION["neardup"],
    message:
        "Removing near-duplicates for {wildcards.model}"
    script:
        "../workflow_scripts/neardup.py"
