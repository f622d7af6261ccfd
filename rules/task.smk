# Score the model on one task: first the standard tasks, then those that the config adds.
def task(wildcards):
    """Return a model's task."""
    return CONFIG.task(wildcards.model, wildcards.task, DOWNLOADS)


rule task:
    input:
        model=trained,
        store=[],
        files=lambda wildcards: [str(file) for file in task(wildcards).files()],
    output:
        json="results/{model}/tasks/{task}.json",
        resamples="results/{model}/tasks/{task}.safetensors",
    log:
        "results/{model}/logs/tasks/{task}.log",
    benchmark:
        "results/{model}/benchmarks/tasks/{task}.tsv"
    wildcard_constraints:
        task=one_of(DEFAULT_TASKS),
    priority: 1
    threads: 2
    resources:
        mem_mb=mem_mb(4000),
        runtime=runtime(120),
    params:
        settings=lambda wildcards: {
            "task": task(wildcards).kind,
            **task(wildcards).settings,
        },
        encoder=None,  # the model itself; the rule for systems is in system.smk
        languages=attribute("languages"),
        resamples=setting("evaluate", "resamples"),
        seed=attribute("seed"),
        # Only the module of its kind.
        version=VERSION["task"],
    message:
        "Scoring {wildcards.model} on {wildcards.task}"
    script:
        "../workflow_scripts/task.py"


# The overlap of these sets with the training pairs is counted too; standard sets are kept clear of training.
use rule task as added_task with:
    input:
        model=trained,
        store=lambda wildcards: [] if model(wildcards).of.joins else stored(wildcards),
        files=lambda wildcards: [str(file) for file in task(wildcards).files()],
    output:
        json="results/{model}/tasks/{task}.json",
        resamples="results/{model}/tasks/{task}.safetensors",
    log:
        "results/{model}/logs/tasks/{task}.log",
    benchmark:
        "results/{model}/benchmarks/tasks/{task}.tsv"
    wildcard_constraints:
        task=rf"(?!{one_of(DEFAULT_TASKS)}\.)[A-Za-z0-9][A-Za-z0-9._-]*",
    priority: 0
    message:
        "Scoring {wildcards.model} on {wildcards.task}, which the config adds"
