# Train on a sample of a model's pairs, for studies that compare samples, and score only on development data.
def study_of(wildcards, name=None):
    """Return the corpora of a study."""
    return CONFIG.studied(wildcards.model, name or wildcards.study)


def as_sampled(wildcards):
    """Return the model as a point trains it."""
    return CONFIG.sampled(wildcards.model, wildcards.study, wildcards.encoder)


def sample_vocabulary(wildcards):
    """Return the vocabulary of the point's encoder, that of all pairs of the model."""
    sampled = as_sampled(wildcards)
    if sampled.tokenizer.collected:
        return f"results/{wildcards.model}/samples/{sampled.tokens}.txt"
    return f"results/{wildcards.model}/{sampled.tokenizer.file}"


def sample_development(wildcards):
    """Return only the development STS set; retrieval of held-out pairs would favour samples like most of them."""
    return {
        key: file
        for key, file in development(wildcards).items()
        if key in ("sts", "archive")
    }


def sample_reports(wildcards, name=None):
    """Return the reports with the number of pairs of each sample of a study, by their names."""
    name = name or wildcards.study
    parts, folder = study_of(wildcards, name), f"results/{wildcards.model}"
    if name == "by_corpus":
        return {
            part.label: f"{folder}/pairs/dedupe/{part.label}.json" for part in parts
        }
    return {
        by: f"{folder}/samples/tenths/{by}.json"
        for by in ("all", *model(wildcards)["deciles"]["by"])
    }


def sample_parameters(wildcards):
    """Return what a point's training depends on: from scratch, and without a teacher."""
    found = parameters(as_sampled(wildcards))
    parts = study_of(wildcards)
    if wildcards.study == "by_corpus":
        parts = [part for part in parts if part.label == wildcards.sample]
    return {
        **found,
        "development": {**found["development"], "heldout": 0, "sets": {}},
        "languages": list(dict.fromkeys(parts[0].languages)),  # two, or one
        "teaching": None,
    }


def points(wildcards, name):
    """Return the train.json of each point of a study, by sample, encoder and seed."""
    block, folder = (
        model(wildcards)[STUDIES[name]],
        f"results/{wildcards.model}/samples",
    )
    if name == "by_corpus":
        samples = [part.label for part in study_of(wildcards, name)]
    else:
        tenths = [f"{by}-{tenth}" for by in block["by"] for tenth in range(1, 11)]
        samples = ["all", *tenths]
    return {
        sample: {
            encoder: {
                seed: f"{folder}/{name}/{sample}/{encoder}/{seed}/train.json"
                for seed in block["seeds"]
            }
            for encoder in block["encoders"]
        }
        for sample in samples
    }


def files_of_points(wildcards, name):
    """Return the same as a list."""
    return [
        file
        for encoders in points(wildcards, name).values()
        for seeds in encoders.values()
        for file in seeds.values()
    ]


rule sample:
    input:
        unpack(sample_development),
        store="results/{model}/samples/{study}/{sample}.tsv",
        vocabulary=sample_vocabulary,
        reports=lambda wildcards: list(sample_reports(wildcards).values()),
    output:
        metrics="results/{model}/samples/{study}/{sample}/{encoder}/{seed}/metrics.csv",
        report="results/{model}/samples/{study}/{sample}/{encoder}/{seed}/train.json",
    log:
        "results/{model}/logs/samples/{study}/{sample}.{encoder}.{seed}.log",
    benchmark:
        "results/{model}/benchmarks/samples/{study}/{sample}.{encoder}.{seed}.tsv"
    wildcard_constraints:
        study="tenths|by_corpus",
        encoder=r"[a-z]+",
    threads: lambda wildcards: model(wildcards).of.threads(model(wildcards))
    resources:
        mem_mb=mem_mb(train_mb),
        gpu=lambda wildcards: gpus(model(wildcards)["train"]),
        runtime=runtime(720),
    params:
        training=sample_parameters,
        pairs=lambda wildcards: model(wildcards)[STUDIES[wildcards.study]]["pairs"],
        seed=seed_of,
        # Samples have few pairs on purpose, so do not warn about it.
        job=lambda wildcards, input: quiet(as_sampled(wildcards)),
        reports=lambda wildcards, input: sample_reports(wildcards),
        version=VERSION["train"],
    message:
        "Training {wildcards.model} on {wildcards.sample} with {wildcards.encoder}, seed {wildcards.seed}"
    script:
        "../workflow_scripts/sample.py"


# The vocabulary of an encoder other than the model's own.
use rule vocabulary as sample_vocabulary with:
    output:
        vocabulary="results/{model}/samples/{tokens}.txt",
        report="results/{model}/samples/{tokens}.json",
    log:
        "results/{model}/logs/samples/{tokens}.log",
    benchmark:
        "results/{model}/benchmarks/samples/{tokens}.tsv"
    wildcard_constraints:
        tokens=one_of(those(lambda kind: kind.collected)),
    params:
        kind=lambda wildcards: wildcards.tokens,
    message:
        "Collecting {wildcards.tokens}s of {wildcards.model}"
