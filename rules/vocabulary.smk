# Collect the vocabulary of a model of words or trigrams.
rule vocabulary:
    input:
        training_pairs,
    output:
        vocabulary="results/{model}/vocabulary.txt",
        report="results/{model}/vocabulary.json",
    log:
        "results/{model}/logs/vocabulary.log",
    benchmark:
        "results/{model}/benchmarks/vocabulary.tsv"
    wildcard_constraints:
        model=WITH_VOCABULARY,
    threads: 1
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(120),
    params:
        kind=attribute("tokens"),
        settings=setting("vocabulary"),
        version=VERSION["vocabulary"],
    message:
        "Collecting the vocabulary of {wildcards.model}"
    script:
        "../workflow_scripts/vocabulary.py"
