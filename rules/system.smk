# Score another system on the model's test sets: an untrained baseline, or another encoder.
def encoder_of(wildcards):
    """Return a system's encoder."""
    return CONFIG.system(wildcards.model, wildcards.system)


def encoder_inputs(wildcards):
    """Return the files of an encoder; a baseline with subwords has those of the model, and their counts in its store."""
    name = encoder_of(wildcards)
    files = {"model": [], "store": [], "encoder": []}
    if name not in systems.BASELINES:
        files["encoder"] = files_of(name)
    elif name != systems.WORD_OVERLAP:
        files["model"] = trained(wildcards)
        files["store"] = f"results/{wildcards.model}/store.h5"
    return files


rule system:
    input:
        unpack(test_sets),
        unpack(encoder_inputs),
    output:
        json="results/{model}/systems/{system}/eval.json",
        resamples="results/{model}/systems/{system}/eval.safetensors",
    log:
        "results/{model}/logs/systems/{system}.log",
    benchmark:
        "results/{model}/benchmarks/systems/{system}.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(4000),
        runtime=runtime(240),
    params:
        **OF_TESTS,
        encoder=encoder_of,
        version=VERSION["system"],
    message:
        "Scoring {wildcards.system} for comparison with {wildcards.model}"
    script:
        "../workflow_scripts/system.py"


# Params that are not given are inherited.
use rule added_task as system_task with:
    input:
        unpack(encoder_inputs),
        files=lambda wildcards: [str(file) for file in task(wildcards).files()],
    output:
        json="results/{model}/systems/{system}/tasks/{task}.json",
        resamples="results/{model}/systems/{system}/tasks/{task}.safetensors",
    log:
        "results/{model}/logs/systems/{system}/{task}.log",
    benchmark:
        "results/{model}/benchmarks/systems/{system}/{task}.tsv"
    params:
        encoder=encoder_of,
        version=VERSION["task"],
    message:
        "Scoring {wildcards.system} on {wildcards.task} for comparison with {wildcards.model}"
