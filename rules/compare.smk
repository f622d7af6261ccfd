# Compare the model with other systems: untrained baselines, or other encoders.
from psp.evaluation import systems


def system_names(w):
    """Return the names of the systems that the model is compared with."""
    return list(systems.named(model(w)["compare"]["systems"]))


def of_systems(*files):
    """Return an input function for files of each of these systems."""
    return lambda w: [f"results/{w.model}/systems/{name}/{file}" for name in system_names(w) for file in files]


def encoder_of(w):
    """Return a system's encoder."""
    return CONFIG.system(w.model, w.system)


def encoder_inputs(w):
    """Return the files of an encoder; a baseline with subwords has those of the model, and their counts in its store."""
    files = {"model": [], "store": [], "encoder": []}
    if encoder_of(w) not in systems.BASELINES:
        files["encoder"] = files_of(encoder_of(w))
    elif encoder_of(w) != systems.WORD_OVERLAP:
        files["model"] = trained(w)
        files["store"] = f"results/{w.model}/store.h5"
    return files


# Score a system on the model's test sets.
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


# Score a system on a task that the config adds. Params that are not given are inherited.
use rule added_task as system_task with:
    input:
        unpack(encoder_inputs),
        files=task_inputs,
    output:
        json="results/{model}/systems/{system}/tasks/{task}.json",
        resamples="results/{model}/systems/{system}/tasks/{task}.safetensors",
    log:
        "results/{model}/logs/systems/{system}/{task}.log",
    benchmark:
        "results/{model}/benchmarks/systems/{system}/{task}.tsv"
    params:
        encoder=encoder_of,
    message:
        "Scoring {wildcards.system} on {wildcards.task} for comparison with {wildcards.model}"


def compared_tasks(w):
    """Return the scores on further tasks, and the resamples, of the model and of each system."""
    return [
        file
        for name in model(w)["compare"]["tasks"]
        for ending in ("json", "safetensors")
        for file in (
            f"results/{w.model}/tasks/{name}.{ending}",
            *of_systems(f"tasks/{name}.{ending}")(w),
        )
    ]


rule compare:
    input:
        trained=["results/{model}/eval.json", "results/{model}/eval.safetensors"],
        systems=of_systems("eval.json"),
        resamples=of_systems("eval.safetensors"),
        tasks=compared_tasks,
    output:
        "results/{model}/compare.json",
    log:
        "results/{model}/logs/compare.log",
    benchmark:
        "results/{model}/benchmarks/compare.tsv"
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        systems=system_names,
        tasks=setting("compare", "tasks"),
        version=VERSION["compare"],
    message:
        "Comparing {wildcards.model} with other systems"
    script:
        "../workflow_scripts/compare.py"
