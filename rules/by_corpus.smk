# Find which corpus of a model is worth most, with the same number of pairs of each.
rule by_corpus_pairs:
    input:
        "results/{model}/pairs/dedupe/{part}.tsv",
    output:
        "results/{model}/samples/by_corpus/{part}.tsv",
    log:
        "results/{model}/logs/samples/by_corpus/{part}.log",
    benchmark:
        "results/{model}/benchmarks/samples/by_corpus/{part}.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(60),
    params:
        pairs=setting("by_corpus", "pairs"),
        version=VERSION["rank"],
    message:
        "Sampling {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/by_corpus_pairs.py"


rule by_corpus:
    input:
        points=lambda wildcards: files_of_points(wildcards, "by_corpus"),
        reports=lambda wildcards: list(sample_reports(wildcards, "by_corpus").values()),
    output:
        "results/{model}/by_corpus.json",
    log:
        "results/{model}/logs/by_corpus.log",
    benchmark:
        "results/{model}/benchmarks/by_corpus.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        points=lambda wildcards: points(wildcards, "by_corpus"),
        reports=lambda wildcards: sample_reports(wildcards, "by_corpus"),
        settings=setting("by_corpus"),
        development=setting("development", "sts"),
        version=VERSION["train"],
    message:
        "Comparing the corpora of {wildcards.model}"
    script:
        "../workflow_scripts/by_corpus.py"
