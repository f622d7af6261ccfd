# Sentences of the test sets that the model gets right and wrong, for people to read.
rule examples:
    input:
        unpack(test_sets),
        model=trained,
    output:
        "results/{model}/examples.json",
    log:
        "results/{model}/logs/examples.log",
    benchmark:
        "results/{model}/benchmarks/examples.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(30),
    params:
        **OF_TESTS,
        version=VERSION["examples"],
    message:
        "Collecting what {wildcards.model} gets right and wrong"
    script:
        "../workflow_scripts/examples.py"
