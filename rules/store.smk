# Encode the pairs as ids in HDF5.
rule store:
    input:
        pairs=training_pairs,
        vocabulary=vocabulary,
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
        version=VERSION["store"],
    message:
        "Encoding the pairs of {wildcards.model}"
    script:
        "../workflow_scripts/store.py"
