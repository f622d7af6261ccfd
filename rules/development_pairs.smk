# Keep the user's own development set clear of the sets that the model is evaluated on.
def kept_clear_of(wildcards):
    """Return the evaluated sets; the tasks only where their sentences are kept out of training, too."""
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
        code=fingerprint("psp.evaluation.development_pairs"),
    message:
        "Keeping {wildcards.model}'s development set clear of its test sets"
    script:
        "../workflow_scripts/development_pairs.py"
