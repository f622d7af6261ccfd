# Train the model, with validation on development data; model/ is the folder that users load.
def tuned(wildcards):
    """Return the result of the grid search, if the model is trained with its best settings."""
    wanted = model(wildcards)["train"]["tune"]
    return [f"results/{wildcards.model}/tune.json"] if wanted else []


def shaping(wildcards):
    """Return the train block without settings that do not affect the model."""
    others = ("threads", "processes", "gpus", "log_every", "checkpoint", "tune")
    entry = model(wildcards)
    found = {key: value for key, value in entry["train"].items() if key not in others}
    return found if entry.sequence is None else {**found, "encoder": entry.sequence}


rule train:
    input:
        unpack(development),
        tune=tuned,
        store="results/{model}/store.h5",
        vocabulary=vocabulary,
        init_from=init_from,
    output:
        **{part: f"results/{{model}}/model/{name}" for part, name in NAMES.items()},
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    log:
        "results/{model}/logs/train.log",
    benchmark:
        "results/{model}/benchmarks/train.tsv"
    wildcard_constraints:
        model=WITH_SUBWORDS,
    threads: train_threads
    resources:
        mem_mb=mem_mb(train_mb),
        gpu=setting("train", "gpus"),
        nodes=1,  # all processes of a training job run on one machine
        runtime=runtime(2880),
    params:
        # Settings chosen by the search come from tune.json; the config's values are unused.
        train=lambda wildcards: {
            key: value
            for key, value in shaping(wildcards).items()
            if key not in model(wildcards).tuned
        },
        development=setting("development"),
        languages=attribute("languages"),
        lower_case=setting("filters", "lower_case"),
        segment=setting("segment"),
        recipe=attribute("recipe"),
        seed=attribute("seed"),
        code=fingerprint("psp.config.jobs", "psp.training.configured"),
        log_every=uncompared("train", "log_every"),
        checkpoint=uncompared("train", "checkpoint"),
        processes=uncompared("train", "processes"),
        gpus=uncompared("train", "gpus"),
        # Not the rule's threads, which Snakemake limits to --cores: their number can change the last bits of a model.
        threads=lambda wildcards, input: train_threads(wildcards),
        warn_pairs=uncompared("mix", "warn_pairs"),
    message:
        "Training {wildcards.model}"
    script:
        "../workflow_scripts/train.py"


# The same for a model of words or trigrams, whose folder has other files.
use rule train as train_vocabulary with:
    output:
        **{
            part: f"results/{{model}}/model/{name}"
            for part, name in VOCABULARY_NAMES.items()
        },
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    log:
        "results/{model}/logs/train_vocabulary.log",
    benchmark:
        "results/{model}/benchmarks/train_vocabulary.tsv"
    wildcard_constraints:
        model=WITH_VOCABULARY,
    message:
        "Training {wildcards.model} on words or trigrams"
