# The model beside other systems.
def compared(wildcards):
    """Return the names of the systems that the model is compared with."""
    return list(systems.named(model(wildcards)["compare"]["systems"]))


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
        code=fingerprint("psp.evaluation.compare"),
    message:
        "Comparing {wildcards.model} with other systems"
    script:
        "../workflow_scripts/compare.py"
