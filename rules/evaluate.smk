# Join the scores on all tasks, each from a job of its own; variants are scored here.
def scored_on(wildcards):
    """Return the files of a model's tasks; for a variant, its model and the test sets."""
    if wildcards.get("variant"):
        return {
            "tasks": [],
            "resampled": [],
            "model": trained(wildcards),
            **test_sets(wildcards),
        }
    return {
        "tasks": task_files("json")(wildcards),
        "resampled": task_files("safetensors")(wildcards),
    }


def made_parts(wildcards):
    """Return the model's corpora whose pairs are made from others."""
    return [part for part in model(wildcards).parts if part.of.made_by]


rule evaluate:
    input:
        unpack(scored_on),
        train=lambda wildcards: f"{home(wildcards)}/train/train.json",
        vocabulary=vocabulary_report,
        mix="results/{model}/pairs/mix.json",
        near=near_duplicates,
        filter=of_corpora("filter"),
        rank=ranked_reports,
        dedupe=of_corpora("dedupe"),
        made=lambda wildcards: [
            origin(wildcards.model, part) for part in made_parts(wildcards)
        ],
    output:
        json="results/{model}/eval.json",
        resamples="results/{model}/eval.safetensors",
    log:
        "results/{model}/logs/evaluate.log",
    benchmark:
        "results/{model}/benchmarks/evaluate.tsv"
    wildcard_constraints:
        model=TRAINED,
    # Before the tasks that a config adds, since one of these may fail.
    priority: 1
    threads: 2
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(60),
    params:
        **OF_TESTS,
        tasks=tasks_of,
        skipped=not_scored,
        recipe=attribute("recipe"),
        differences=attribute("differences"),
        tuned=attribute("tuned"),
        decontaminate=setting("filters", "decontaminate"),
        unpinned=lambda wildcards: [
            name
            for name in CONFIG.downloads(model(wildcards))
            if name not in CONFIG.pins
        ],
        made=lambda wildcards: [part.kind for part in made_parts(wildcards)],
        version=VERSION["evaluate"],
    message:
        "Evaluating {wildcards.model}"
    script:
        "../workflow_scripts/evaluate.py"


# The same for a combination of models and its parts.
rule evaluate_combined:
    input:
        tasks=task_files("json"),
        resampled=task_files("safetensors"),
        evaluations=of_joined("eval.json"),
        resamples=of_joined("eval.safetensors"),
    output:
        json="results/{model}/eval.json",
        resamples="results/{model}/eval.safetensors",
    log:
        "results/{model}/logs/evaluate_combined.log",
    benchmark:
        "results/{model}/benchmarks/evaluate_combined.tsv"
    wildcard_constraints:
        model=COMBINATIONS,
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        parts=attribute("combined"),
        settings=fixed_tests,
        tasks=tasks_of,
        skipped=not_scored,
        seed=attribute("seed"),
        version=VERSION["evaluate_combined"],
    message:
        "Evaluating {wildcards.model}, a combination"
    script:
        "../workflow_scripts/evaluate_combined.py"
