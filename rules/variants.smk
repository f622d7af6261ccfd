# Train variants of a model, with several seeds each, on the same store, to compare recipes.
def variants(wildcards):
    """Return the training folder of each variant and seed; the model's own settings and seed are the model itself."""
    base = model(wildcards)
    return {
        variant.name: {
            seed: (
                f"results/{base.name}"
                if variant.base and seed == base.seed
                else f"results/{base.name}/variants/{variant.name}/{seed}"
            )
            for seed in variant.seeds
        }
        for variant in base.variants.values()
    }


def beside(wildcards):
    """Return the folder of each system that the model is compared with."""
    return {
        name: f"results/{wildcards.model}/systems/{name}"
        for name in compared(wildcards)
    }


# Inputs and params are inherited; their wildcards make them the variant's (see `model` in common.smk).
use rule train as train_variant with:
    output:
        **{
            part: scratch(
                f"results/{{model}}/variants/{{variant}}/{{seed}}/model/{name}"
            )
            for part, name in NAMES.items()
        },
        metrics="results/{model}/variants/{variant}/{seed}/train/metrics.csv",
        report="results/{model}/variants/{variant}/{seed}/train/train.json",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.train.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.train.tsv"
    params:
        seed=lambda wildcards: int(wildcards.seed),
    message:
        "Training {wildcards.model} as {wildcards.variant}, seed {wildcards.seed}"


use rule train_variant as train_vocabulary_variant with:
    output:
        **{
            part: scratch(
                f"results/{{model}}/variants/{{variant}}/{{seed}}/model/{name}"
            )
            for part, name in VOCABULARY_NAMES.items()
        },
        metrics="results/{model}/variants/{variant}/{seed}/train/metrics.csv",
        report="results/{model}/variants/{variant}/{seed}/train/train.json",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.train_vocabulary.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.train_vocabulary.tsv"
    wildcard_constraints:
        model=WITH_VOCABULARY,
    message:
        "Training {wildcards.model} on words or trigrams as {wildcards.variant}, seed {wildcards.seed}"


use rule train_transformer as train_transformer_variant with:
    output:
        **{
            part: scratch(
                f"results/{{model}}/variants/{{variant}}/{{seed}}/model/{name}"
            )
            for part, name in TRANSFORMER_NAMES.items()
        },
        metrics="results/{model}/variants/{variant}/{seed}/train/metrics.csv",
        report="results/{model}/variants/{variant}/{seed}/train/train.json",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.train_transformer.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.train_transformer.tsv"
    params:
        seed=lambda wildcards: int(wildcards.seed),
    message:
        "Training {wildcards.model}, a transformer, as {wildcards.variant}, seed {wildcards.seed}"


use rule evaluate as evaluate_variant with:
    output:
        json="results/{model}/variants/{variant}/{seed}/eval.json",
        resamples="results/{model}/variants/{variant}/{seed}/eval.safetensors",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.evaluate.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.evaluate.tsv"
    params:
        code=fingerprint(
            "psp.evaluation.evaluate",
            "psp.config.jobs",
            "psp.training.tune",
            "psp.models.static",
            "psp.models.transformer",
            *OF_EVERY_MODEL,
        ),
    message:
        "Evaluating {wildcards.model} as {wildcards.variant}, seed {wildcards.seed}"


rule variants:
    input:
        evaluations=lambda wildcards: [
            f"{folder}/eval.{kind}"
            for seeds in variants(wildcards).values()
            for folder in seeds.values()
            for kind in ("json", "safetensors")
        ],
        systems=lambda wildcards: [
            f"{folder}/eval.{kind}"
            for folder in beside(wildcards).values()
            for kind in ("json", "safetensors")
        ],
    output:
        "results/{model}/variants.json",
    log:
        "results/{model}/logs/variants.log",
    benchmark:
        "results/{model}/benchmarks/variants.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        variants=variants,
        systems=beside,
        code=fingerprint("psp.evaluation.variants"),
    message:
        "Comparing the variants of {wildcards.model}"
    script:
        "../workflow_scripts/variants.py"


# Pictures of the learning curves; nothing else depends on them.
rule variant_curves:
    input:
        metrics=lambda wildcards: [
            f"{folder}/train/metrics.csv"
            for seeds in variants(wildcards).values()
            for folder in seeds.values()
        ],
        reports=lambda wildcards: [
            f"{folder}/train/train.json"
            for seeds in variants(wildcards).values()
            for folder in seeds.values()
        ],
    output:
        pairs="results/{model}/variants.png",
        seconds="results/{model}/variants_time.png",
    log:
        "results/{model}/logs/variant_curves.log",
    benchmark:
        "results/{model}/benchmarks/variant_curves.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        variants=variants,
        code=fingerprint("psp.report.curve"),
    message:
        "Drawing the learning curves of {wildcards.model}'s variants"
    script:
        "../workflow_scripts/variant_curves.py"
