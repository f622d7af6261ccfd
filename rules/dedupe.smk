# Remove a corpus's duplicates, shuffle its pairs and cut it to its cap.
rule dedupe:
    input:
        "results/{model}/pairs/filter/{part}.tsv",
    output:
        pairs=scratch("results/{model}/pairs/dedupe/{part}.tsv"),
        report="results/{model}/pairs/dedupe/{part}.json",
    log:
        "results/{model}/logs/dedupe/{part}.log",
    benchmark:
        "results/{model}/benchmarks/dedupe/{part}.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(120),
    params:
        cap=lambda wildcards: part_of(wildcards).cap,
        corpus=lambda wildcards: part_of(wildcards).corpus,
        shards=setting("mix", "shards"),
        seed=attribute("seed"),
        code=fingerprint("psp.pairs.dedupe"),
    message:
        "Removing duplicates of {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/dedupe.py"
