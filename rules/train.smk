# Train the model, with validation on development data; model/ is the folder that users load.
def tuned(wildcards):
    """Return the result of the grid search, if the model is trained with its best settings."""
    wanted = model(wildcards)["train"]["tune"]
    return [f"results/{wildcards.model}/tune.json"] if wanted else []


def train_settings(entry):
    """Return a model's train block without settings that do not affect the model."""
    others = (
        "threads",
        "processes",
        "gpus",
        "log_every",
        "checkpoint",
        "tune",
        "init_vectors",
    )
    found = {key: value for key, value in entry["train"].items() if key not in others}
    return found if entry.sequence is None else {**found, "encoder": entry.sequence}


def shaping(wildcards):
    return train_settings(model(wildcards))


# Shared with the rules of joint models, below.
TRAINING = {
    # Settings chosen by the search come from tune.json; the config's values are unused.
    "train": lambda wildcards: {
        key: value
        for key, value in shaping(wildcards).items()
        if key not in model(wildcards).tuned
    },
    "development": setting("development"),
    "languages": attribute("languages"),
    "lower_case": setting("filters", "lower_case"),
    "segment": setting("segment"),
    "teaching": setting("teacher"),
    "recipe": attribute("recipe"),
    "seed": attribute("seed"),
    "log_every": uncompared("train", "log_every"),
    "checkpoint": uncompared("train", "checkpoint"),
    "processes": uncompared("train", "processes"),
    "gpus": uncompared("train", "gpus"),
    # Not the rule's threads, which Snakemake limits to --cores: their number can change the last bits of a model.
    "threads": lambda wildcards, input: train_threads(wildcards),
    "warn_pairs": uncompared("mix", "warn_pairs"),
}


rule train:
    input:
        unpack(development),
        tune=tuned,
        store="results/{model}/store.h5",
        vocabulary=vocabulary,
        init_from=init_from,
        init_vectors=init_vectors,
        teacher=taught,
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
        **TRAINING,
        code=fingerprint(
            "psp.config.jobs", "psp.training.configured", "psp.training.objectives.*"
        ),
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


# The same for several encoders with one loss. A joint model has its parts' tokenizers as files, so each has a rule of
# its own.
for _name in JOINT:

    rule:
        name:
            f"train_{_name}"
        input:
            unpack(development),
            tune=[],
            store="results/{model}/store.h5",
            vocabulary=vocabulary,
            init_from=init_from,
        output:
            files_in("results/{model}/model", CONFIG.model(_name)),
            metrics="results/{model}/train/metrics.csv",
            report="results/{model}/train/train.json",
        log:
            "results/{model}/logs/train.log",
        benchmark:
            "results/{model}/benchmarks/train.tsv"
        wildcard_constraints:
            model=re.escape(_name),
        threads: train_threads
        resources:
            mem_mb=mem_mb(train_mb),
            gpu=setting("train", "gpus"),
            nodes=1,
            runtime=runtime(2880),
        params:
            **TRAINING,
            code=fingerprint(
                "psp.config.jobs",
                "psp.training.configured",
                "psp.training.objectives.*",
            ),
        message:
            "Training the encoders of {wildcards.model} together"
        script:
            "../workflow_scripts/train.py"


def base_of(wildcards):
    """Return the files of a transformer's base, if it is a folder: training again where they change."""
    return encoder_files(f"{SENTENCE_TRANSFORMERS}{model(wildcards).base}")


rule train_transformer:
    input:
        unpack(development),
        pairs=training_pairs,
        base=base_of,
        teacher=taught,
    output:
        **{
            part: f"results/{{model}}/model/{name}"
            for part, name in TRANSFORMER_NAMES.items()
        },
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    log:
        "results/{model}/logs/train_transformer.log",
    benchmark:
        "results/{model}/benchmarks/train_transformer.tsv"
    wildcard_constraints:
        model=FROM_TEXT,
    threads: transformer_threads
    resources:
        # Weights, gradient and two moments of a base of 125M parameters, and a mini-batch of it.
        mem_mb=mem_mb(
            lambda wildcards, input: 6000
            * launch.count(model(wildcards)["transformer"])
        ),
        gpu=setting("transformer", "gpus"),
        nodes=1,
        runtime=runtime(2880),
    params:
        settings=lambda wildcards: {
            key: value
            for key, value in model(wildcards)["transformer"].items()
            if key
            not in (
                "threads",
                "processes",
                "gpus",
                "device",
                "log_every",
                "checkpoint_steps",
            )
        },
        base=attribute("base"),
        development=setting("development"),
        languages=attribute("languages"),
        recipe=attribute("recipe"),
        seed=attribute("seed"),
        # Not compared: they do not affect the model, or cannot be known.
        job=lambda wildcards, input: {
            key: model(wildcards)["transformer"][key]
            for key in ("device", "log_every", "checkpoint_steps")
        },
        # Not the rule's threads, which Snakemake limits to --cores.
        threads=lambda wildcards, input: transformer_threads(wildcards),
        processes=uncompared("transformer", "processes"),
        gpus=uncompared("transformer", "gpus"),
        code=fingerprint("psp.config.jobs", "psp.training.transformer.configured"),
    message:
        "Training {wildcards.model}, a transformer"
    script:
        "../workflow_scripts/train_transformer.py"
