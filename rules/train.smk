# Train models, and variants of them, with validation on development data; model/ is the folder that users load. The
# model's kind says what training reads and depends on (psp/config/training.py).
#: The files that kinds of models may read for training.
TO_TRAIN = {
    "store": lambda wildcards: f"results/{wildcards.model}/store.h5",
    "pairs": training_pairs,
    "vocabulary": vocabulary,
    "init_from": init_from,
    "init_vectors": init_vectors,
    "piece_vectors": branch(
        setting("train", "init_encoder"),
        then=["results/{model}/piece_vectors.safetensors"],
    ),
    "teacher": branch(
        setting("teacher", "encoder"), then=["results/{model}/teacher.safetensors"]
    ),
    # Of a transformer, if it is a folder.
    "base": lambda wildcards: encoder_files(
        f"{SENTENCE_TRANSFORMERS}{model(wildcards).base}"
    ),
}


def to_train(wildcards):
    """Return the files that training reads."""
    own = {name: TO_TRAIN[name](wildcards) for name in model(wildcards).of.reads}
    return {**own, **development(wildcards)}


def parameters(entry):
    """Return what a training run of a model depends on, besides files, seed and version."""
    return entry.of.parameters(entry)


def trained_points(wildcards):
    """Return the train.json of each point of the model's grid, by the point's name."""
    entry = CONFIG.cleared(wildcards.model)
    folder = f"results/{entry.name}/variants"
    return {
        name: f"{folder}/{name}/{entry.seed}/train/train.json" for name in entry.points
    }


def searched(wildcards):
    """Return for each point of the model's grid the values of what the grid searches."""
    entry = CONFIG.cleared(wildcards.model)
    return {name: dict(entry.variants[name].point) for name in entry.points}


def of_best(values):
    """Return an input or param function that is empty unless the model takes settings from its grid."""
    return lambda wildcards: values(wildcards) if model(wildcards).tuned else {}


def seed_of(wildcards):
    """Return the seed of a training run: the model's, or that of a variant."""
    return int(wildcards.get("seed", model(wildcards).seed))


# Models of one rule have the same files, so that each file is an output and is remade if missing.
for _rule, (_files, _names) in TRAINED_BY.items():
    for _suffix, _home, _place, _mark in (
        ("", "results/{model}", "{name}", str),
        ("_variant", VARIANT, "variants/{{variant}}/{{seed}}.{name}", scratch),
    ):

        rule:
            name:
                f"{_rule}{_suffix}"
            input:
                unpack(to_train),
                points=lambda wildcards: list(
                    of_best(trained_points)(wildcards).values()
                ),
            output:
                [_mark(f"{_home}/model/{file}") for file in _files],
                metrics=f"{_home}/train/metrics.csv",
                report=f"{_home}/train/train.json",
            log:
                f"results/{{model}}/logs/{_place.format(name=_rule)}.log",
            benchmark:
                f"results/{{model}}/benchmarks/{_place.format(name=_rule)}.tsv"
            wildcard_constraints:
                model=one_of(_names) if _rule != "train" else BY_TRAIN,
            threads: lambda wildcards: model(wildcards).of.threads(model(wildcards))
            resources:
                mem_mb=mem_mb(train_mb),
                gpu=lambda wildcards: gpus(train_block(wildcards)),
                runtime=runtime(2880),
            params:
                training=lambda wildcards: parameters(model(wildcards)),
                seed=seed_of,
                searched=of_best(searched),
                # Not compared. Its threads are not the rule's, which Snakemake limits to --cores: their number can
                # change the last bits of a model.
                job=lambda wildcards, input: model(wildcards).of.beside(
                    model(wildcards)
                ),
                # In a mapping, since Snakemake calls callables.
                kind=lambda wildcards, input: {"of": model(wildcards).of},
                version=VERSION[
                    "train_transformer" if "transformer" in _rule else "train"
                ],
            message:
                f"Training {{wildcards.model}}{' as {wildcards.variant}, seed {wildcards.seed}' if _suffix else ''}"
            script:
                "../workflow_scripts/train.py"
