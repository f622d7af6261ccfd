# Keep development sets (the user's own file and each set of the config) clear of the model's evaluation sets.
def kept_clear_of(wildcards):
    """Return the evaluated sets; tasks only if their sentences are kept out of training, too."""
    entry = model(wildcards)
    found = evaluated(wildcards)
    if "tasks" not in entry["filters"]["decontaminate"]["sets"]:
        del found["tasks"]
    # A file may be both, for its figures in eval.json.
    found["files"] = {
        name: file
        for name, file in found["files"].items()
        if file != entry["development"]["sts"]
    }
    return {"languages": entry.languages, **found}


rule development_pairs:
    input:
        tests=lambda wildcards: evaluated_files(wildcards, kept_clear_of(wildcards)),
        development=setting("development", "sts"),
    output:
        pairs="results/{model}/pairs/development.tsv",
        report="results/{model}/pairs/development.json",
    log:
        "results/{model}/logs/development_pairs.log",
    benchmark:
        "results/{model}/benchmarks/development_pairs.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(10),
    params:
        sets=kept_clear_of,
        entry={},
        version=VERSION["development_pairs"],
    message:
        "Keeping {wildcards.model}'s development set clear of its test sets"
    script:
        "../workflow_scripts/development_pairs.py"


use rule development_pairs as development_set with:
    input:
        tests=lambda wildcards: evaluated_files(wildcards, kept_clear_of(wildcards)),
        development=lambda wildcards: judged_files(wildcards, wildcards.set),
    output:
        pairs="results/{model}/pairs/development/{set}.tsv",
        report="results/{model}/pairs/development/{set}.json",
    log:
        "results/{model}/logs/development/{set}.log",
    benchmark:
        "results/{model}/benchmarks/development/{set}.tsv"
    params:
        entry=lambda wildcards: judged_set(wildcards, wildcards.set),
    message:
        "Keeping the development set {wildcards.set} of {wildcards.model} clear of its test sets"
