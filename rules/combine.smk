# Models that join others, trained apart: the model, and its scores beside those of its parts.
def parts_of(wildcards):
    """Return the models that a combination joins."""
    return [part for part, _ in model(wildcards).combined]


# A combination has its parts' tokenizers as files, so each has a rule of its own.
for _name in COMBINED:

    rule:
        name:
            f"combine_{_name}"
        input:
            models=[
                file
                for part, _ in CONFIG.model(_name).combined
                for file in files_in(f"results/{part}/model", CONFIG.model(part))
            ],
        output:
            files_in(f"results/{_name}/model", CONFIG.model(_name)),
        log:
            f"results/{_name}/logs/combine.log",
        benchmark:
            f"results/{_name}/benchmarks/combine.tsv"
        threads: 1
        resources:
            mem_mb=mem_mb(2000),
            runtime=runtime(10),
        params:
            parts=[part for part, _ in CONFIG.model(_name).combined],
            weights=[weight for _, weight in CONFIG.model(_name).combined],
            code=fingerprint("psp.models.combined"),
        message:
            f"Joining the models of {_name}"
        script:
            "../workflow_scripts/combine.py"


rule evaluate_combined:
    input:
        unpack(test_sets),
        model=trained,
        evaluations=lambda wildcards: [
            f"results/{part}/eval.json" for part in parts_of(wildcards)
        ],
        resamples=lambda wildcards: [
            f"results/{part}/eval.safetensors" for part in parts_of(wildcards)
        ],
    output:
        json="results/{model}/eval.json",
        resamples="results/{model}/eval.safetensors",
    log:
        "results/{model}/logs/evaluate_combined.log",
    benchmark:
        "results/{model}/benchmarks/evaluate_combined.tsv"
    wildcard_constraints:
        model=COMBINATIONS,
    threads: 2
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(60),
    params:
        parts=attribute("combined"),
        languages=attribute("languages"),
        tatoeba=tatoeba,
        settings=fixed_tests,
        seed=attribute("seed"),
        code=fingerprint(
            "psp.evaluation.combined", "psp.config.jobs", "psp.models.combined"
        ),
    message:
        "Evaluating {wildcards.model}, a combination"
    script:
        "../workflow_scripts/evaluate_combined.py"
