# Statistics of a model's corpora, and a sheet for annotators; nothing else depends on them.
rule stats:
    input:
        # The output of filter: the text that training reads, corpus by corpus, with its scores. After dedupe, a pair
        # that several corpora share would be in only one; after mix there are no scores.
        pairs=of_corpora("filter", ".tsv"),
        labels=lambda wildcards: model(wildcards)["stats"]["labels"],
        idf=lambda wildcards: sorted(
            set(model(wildcards)["stats"]["idf_from"].values())
        ),
    output:
        json="results/{model}/stats.json",
        text="results/{model}/stats.md",
        sheet="results/{model}/stats.sheet.tsv",
    log:
        "results/{model}/logs/stats.log",
    benchmark:
        "results/{model}/benchmarks/stats.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(120),
    params:
        parts=lambda wildcards: [
            about(part, "label", "languages", "kind")
            for part in model(wildcards).parts
        ],
        settings=setting("stats"),
        seed=attribute("seed"),
        version=VERSION["stats"],
    message:
        "Measuring the corpora of {wildcards.model}"
    script:
        "../workflow_scripts/stats.py"
