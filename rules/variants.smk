# Train variants of a model, with several seeds each, on the same store, to compare recipes; and the points of its grid,
# which are scored on development data alone. A variant's rules are its model's with other outputs, of which the model is
# not kept; what is not given is inherited, and `model` (common.smk) returns the variant's settings.


use rule train as train_variant with:
    output:
        scratch(f"{VARIANT}/model/config.json"),
        scratch(f"{VARIANT}/model/sentencepiece.model"),
        scratch(f"{VARIANT}/model/model.safetensors"),
        metrics=f"{VARIANT}/train/metrics.csv",
        report=f"{VARIANT}/train/train.json",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.train.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.train.tsv"
    message:
        "Training {wildcards.model} as {wildcards.variant}, seed {wildcards.seed}"


use rule train_vocabulary as train_vocabulary_variant with:
    output:
        scratch(f"{VARIANT}/model/config.json"),
        scratch(f"{VARIANT}/model/vocabulary.txt"),
        scratch(f"{VARIANT}/model/model.safetensors"),
        metrics=f"{VARIANT}/train/metrics.csv",
        report=f"{VARIANT}/train/train.json",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.train_vocabulary.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.train_vocabulary.tsv"
    message:
        "Training {wildcards.model} as {wildcards.variant}, seed {wildcards.seed}"


use rule train_transformer as train_transformer_variant with:
    output:
        [scratch(f"{VARIANT}/model/{name}") for name in TRANSFORMER_NAMES.values()],
        metrics=f"{VARIANT}/train/metrics.csv",
        report=f"{VARIANT}/train/train.json",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.train_transformer.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.train_transformer.tsv"
    message:
        "Training {wildcards.model} as {wildcards.variant}, seed {wildcards.seed}"


# Scores the variant itself: its tasks have no jobs of their own.
use rule evaluate as evaluate_variant with:
    input:
        unpack(test_sets),
        model=trained,
        train=f"{VARIANT}/train/train.json",
        vocabulary=vocabulary_report,
        mix="results/{model}/pairs/mix.json",
        near=near_duplicates,
        filter=of_corpora("filter"),
        rank=of_corpora("rank"),
        dedupe=of_corpora("dedupe"),
        made=lambda w: [origin(w, part) for part in made_parts(w)],
    output:
        json=f"{VARIANT}/eval.json",
        resamples=f"{VARIANT}/eval.safetensors",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.evaluate.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.evaluate.tsv"
    message:
        "Evaluating {wildcards.model} as {wildcards.variant}, seed {wildcards.seed}"


def variant_folders(w):
    """Return the training folder of each variant and seed; the model's own settings and seed are the model itself."""
    home, own = f"results/{w.model}", model(w).seed
    return {
        one.name: {
            seed: (home if one.base and seed == own else f"{home}/variants/{one.name}/{seed}") for seed in one.seeds
        }
        for one in model(w).variants.values()
        if one.point is None
    }


def of_variants(*files):
    """Return an input function for files of each variant and seed."""
    return lambda w: [
        f"{folder}/{file}" for seeds in variant_folders(w).values() for folder in seeds.values() for file in files
    ]


rule variants:
    input:
        evaluations=of_variants("eval.json", "eval.safetensors"),
        systems=of_systems("eval.json", "eval.safetensors"),
        points=points,
    output:
        "results/{model}/variants.json",
    log:
        "results/{model}/logs/variants.log",
    benchmark:
        "results/{model}/benchmarks/variants.tsv"
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        variants=variant_folders,
        systems=lambda w: {name: f"results/{w.model}/systems/{name}" for name in system_names(w)},
        searched=searched,
        version=VERSION["variants"],
    message:
        "Comparing the variants of {wildcards.model}"
    script:
        "../workflow_scripts/variants.py"


# Pictures of the learning curves; nothing else depends on them.
rule variant_curves:
    input:
        metrics=of_variants("train/metrics.csv"),
        reports=of_variants("train/train.json"),
    output:
        pairs="results/{model}/variants.png",
        seconds="results/{model}/variants_time.png",
    log:
        "results/{model}/logs/variant_curves.log",
    benchmark:
        "results/{model}/benchmarks/variant_curves.tsv"
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        variants=variant_folders,
        version=VERSION["variant_curves"],
    message:
        "Drawing the learning curves of {wildcards.model}'s variants"
    script:
        "../workflow_scripts/variant_curves.py"
