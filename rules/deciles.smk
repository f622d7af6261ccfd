# Find which deciles of a model's pairs are worth training on: each decile by each value, and all pairs.
def described_corpora(wildcards):
    """Return the other data needed to rank each corpus."""
    return [
        {
            **about(part, "label", "corpus", "kind"),
            "overlap": {
                key: part.filters["overlap"][key] for key in ("repeated", "tokens")
            },
        }
        for part in study_of(wildcards, "tenths")
    ]


def origins(wildcards, input):
    """Return the file that each comes from, for an error; not compared."""
    return [
        part.path or (download(part.download) if part.download else "")
        for part in study_of(wildcards, "tenths")
    ]


rule deciles_pairs:
    input:
        of_corpora("filter", ".tsv"),
    output:
        **{
            f"tenth{tenth}": f"results/{{model}}/samples/tenths/{{by}}-{tenth}.tsv"
            for tenth in range(1, 11)
        },
        report="results/{model}/samples/tenths/{by}.json",
    log:
        "results/{model}/logs/samples/tenths/{by}.log",
    benchmark:
        "results/{model}/benchmarks/samples/tenths/{by}.tsv"
    wildcard_constraints:
        by="score|translation|overlap|length",
    threads: 1
    resources:
        mem_mb=mem_mb(rank_mb),
        runtime=runtime(240),
    params:
        corpora=described_corpora,
        origins=origins,
        pairs=setting("deciles", "pairs"),
        seed=attribute("seed"),
        version=VERSION["rank"],
    message:
        "Cutting the pairs of {wildcards.model} into deciles by {wildcards.by}"
    script:
        "../workflow_scripts/deciles_pairs.py"


rule deciles_all:
    input:
        of_corpora("filter", ".tsv"),
    output:
        pairs="results/{model}/samples/tenths/all.tsv",
        report="results/{model}/samples/tenths/all.json",
    log:
        "results/{model}/logs/samples/tenths/all.log",
    benchmark:
        "results/{model}/benchmarks/samples/tenths/all.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(120),
    params:
        corpora=described_corpora,
        origins=origins,
        pairs=setting("deciles", "pairs"),
        seed=attribute("seed"),
        version=VERSION["rank"],
    message:
        "Sampling all pairs of {wildcards.model}"
    script:
        "../workflow_scripts/deciles_all.py"


rule deciles:
    input:
        points=lambda wildcards: files_of_points(wildcards, "tenths"),
        reports=lambda wildcards: list(sample_reports(wildcards, "tenths").values()),
    output:
        "results/{model}/tenths.json",
    log:
        "results/{model}/logs/tenths.log",
    benchmark:
        "results/{model}/benchmarks/tenths.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        points=lambda wildcards: points(wildcards, "tenths"),
        reports=lambda wildcards: sample_reports(wildcards, "tenths"),
        settings=setting("deciles"),
        development=setting("development", "sts"),
        version=VERSION["train"],
    message:
        "Comparing the deciles of {wildcards.model}"
    script:
        "../workflow_scripts/deciles.py"


# Nothing depends on the picture.
rule deciles_picture:
    input:
        "results/{model}/tenths.json",
    output:
        "results/{model}/tenths.png",
    log:
        "results/{model}/logs/tenths_picture.log",
    benchmark:
        "results/{model}/benchmarks/tenths_picture.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        version=VERSION["curve"],
    message:
        "Drawing the deciles of {wildcards.model}"
    script:
        "../workflow_scripts/deciles_picture.py"
