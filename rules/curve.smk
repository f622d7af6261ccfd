# A picture of the learning curves; nothing else depends on it.
rule curve:
    input:
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    output:
        "results/{model}/learning_curve.png",
    log:
        "results/{model}/logs/curve.log",
    benchmark:
        "results/{model}/benchmarks/curve.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        version=VERSION["curve"],
    message:
        "Drawing the learning curves of {wildcards.model}"
    script:
        "../workflow_scripts/curve.py"
