# All scores of the config's models that have been evaluated, in one table for other programs.
def evaluated_models(wildcards):
    """Return the eval.json of each model that has one."""
    files = [f"results/{name}/eval.json" for name in CONFIG.models]
    return [file for file in files if Path(file).exists()]


rule summary:
    input:
        evaluated_models,
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
        code=fingerprint("psp.models.summary"),
    message:
        "Collecting the scores of all models"
    script:
        "../workflow_scripts/summary.py"
