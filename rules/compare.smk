# Compare the model with other systems.
def compared(wildcards):
    """Return the names of the systems that the model is compared with."""
    return list(systems.named(model(wildcards)["compare"]["systems"]))


def beside(wildcards):
    """Return the folder of each of these systems."""
    return {
        name: f"results/{wildcards.model}/systems/{name}"
        for name in compared(wildcards)
    }


def of_systems(*files):
    """Return an input function for files of each of these systems."""
    return lambda wildcards: [
        f"{folder}/{file}" for folder in beside(wildcards).values() for file in files
    ]


def task_scores(wildcards):
    """Return the scores on further tasks, and the resamples, of the model and of each system."""
    return [
        f"{folder}/tasks/{task}.{ending}"
        for task in model(wildcards)["compare"]["tasks"]
        for folder in (f"results/{wildcards.model}", *beside(wildcards).values())
        for ending in ("json", "safetensors")
    ]


rule compare:
    input:
        trained=[
            "results/{model}/eval.json",
            "results/{model}/eval.safetensors",
        ],
        systems=of_systems("eval.json"),
        resamples=of_systems("eval.safetensors"),
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
        tasks=setting("compare", "tasks"),
        version=VERSION["compare"],
    message:
        "Comparing {wildcards.model} with other systems"
    script:
        "../workflow_scripts/compare.py"
