# Train variants of a model, with several seeds each, on the same store, to compare recipes; and the points of its grid,
# which are scored on development data alone.
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
        if variant.point is None
    }


def of_variants(*files):
    """Return an input function for files of each variant and seed."""
    return lambda wildcards: [
        f"{folder}/{file}"
        for seeds in variants(wildcards).values()
        for folder in seeds.values()
        for file in files
    ]


# They are trained in train.smk. Inputs and params are inherited; their wildcards make them the variant's (see `model`
# in common.smk).
use rule evaluate as evaluate_variant with:
    output:
        json=f"{VARIANT}/eval.json",
        resamples=f"{VARIANT}/eval.safetensors",
    log:
        "results/{model}/logs/variants/{variant}/{seed}.evaluate.log",
    benchmark:
        "results/{model}/benchmarks/variants/{variant}/{seed}.evaluate.tsv"
    params:
        version=VERSION["evaluate"],
    message:
        "Evaluating {wildcards.model} as {wildcards.variant}, seed {wildcards.seed}"


rule variants:
    input:
        evaluations=of_variants("eval.json", "eval.safetensors"),
        systems=of_systems("eval.json", "eval.safetensors"),
        points=lambda wildcards: list(trained_points(wildcards).values()),
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
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        variants=variants,
        version=VERSION["variant_curves"],
    message:
        "Drawing the learning curves of {wildcards.model}'s variants"
    script:
        "../workflow_scripts/variant_curves.py"
