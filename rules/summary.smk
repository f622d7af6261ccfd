# All scores of the config's models that have been evaluated, in one table for other programs.
rule summary:
    input:
        lambda wildcards: [
            file
            for name in CONFIG.models
            if Path(file := f"results/{name}/eval.json").exists()
        ],
    output:
        "results/summary.csv",
    log:
        "results/logs/summary.log",
    benchmark:
        "results/benchmarks/summary.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(10),
    params:
        version=VERSION["summary"],
    message:
        "Collecting the scores of all models"
    script:
        "../workflow_scripts/summary.py"
