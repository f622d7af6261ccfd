# Compare the model with other systems.
def compared(wildcards):
    """Return the names of the systems that the model is compared with."""
    return list(systems.named(model(wildcards)["compare"]["systems"]))


def compared_tasks(wildcards):
    """Return the names of the further tasks on which they are compared."""
    return model(wildcards)["compare"]["tasks"]


def task_scores(wildcards):
    """Return the scores on these tasks, and the resamples, of the model and of each system."""
    folder = f"results/{wildcards.model}"
    folders = [
        folder,
        *(f"{folder}/systems/{name}" for name in compared(wildcards)),
    ]
    return [
        f"{one}/tasks/{task}.{ending}"
        for task in compared_tasks(wildcards)
        for one in folders
        for ending in ("json", "safetensors")
    ]


rule compare:
    input:
        trained=[
            "results/{model}/eval.json",
            "results/{model}/eval.safetensors",
        ],
        systems=lambda wildcards: [
            f"results/{wildcards.model}/systems/{name}/eval.json"
            for name in compared(wildcards)
        ],
        resamples=lambda wildcards: [
            f"results/{wildcards.model}/systems/{name}/eval.safetensors"
            for name in compared(wildcards)
        ],
        tasks=task_scores,
    output:
        "results/{model}/compare.json",
    log:
        "results/{model}/logs/compare.log",
    benchmark:
        "results/{model}/benchmarks/compare.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        systems=compared,
        tasks=compared_tasks,
        code=fingerprint("psp.evaluation.compare"),
    message:
        "Comparing {wildcards.model} with other systems"
    script:
        "../workflow_scripts/compare.py"
