# Mined pairs to publish, each with its shared sentence, cosine and corpora, and a card.
def publishable(wildcards):
    """Return the mined corpus of a job; refuse one that may not be published."""
    check_publishable(part_of(wildcards), f"models.{wildcards.model}")
    return part_of(wildcards)


# Params that are not given are inherited. The filters are the same, but text is cased and unsegmented.
use rule filter as filter_mined with:
    output:
        pairs=scratch("results/{model}/pairs/mined/{part}.tsv"),
        report="results/{model}/pairs/mined/{part}.json",
        dropped="results/{model}/pairs/mined/{part}.dropped.tsv",
    log:
        "results/{model}/logs/filter_mined/{part}.log",
    benchmark:
        "results/{model}/benchmarks/filter_mined/{part}.tsv"
    params:
        prepared=False,
    message:
        "Filtering {wildcards.part} of {wildcards.model}, to publish it"


rule publish:
    input:
        mined=lambda wildcards: f"results/{wildcards.model}/pairs/pivot/{publishable(wildcards).label}.tsv",
        report="results/{model}/pairs/pivot/{part}.json",
        filtered="results/{model}/pairs/mined/{part}.tsv",
        encoder=lambda wildcards: files_of(part_of(wildcards).pivot["encoder"]),
    output:
        pairs="results/{model}/mined/{part}.{ending}",
        card="results/{model}/mined/{part}.{ending}.md",
    log:
        "results/{model}/logs/publish/{part}.{ending}.log",
    benchmark:
        "results/{model}/benchmarks/publish/{part}.{ending}.tsv"
    wildcard_constraints:
        ending="jsonl|parquet",
    threads: 1
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(240),
    params:
        licence=lambda wildcards: publishable(wildcards).licence,
        sources=lambda wildcards: [
            about(source, "label", "version", "licence")
            for source in part_of(wildcards).sources
        ],
        encoder=lambda wildcards: part_of(wildcards).pivot["encoder"],
        code=fingerprint("psp.report.publish"),
    message:
        "Writing {wildcards.part} of {wildcards.model} for others"
    script:
        "../workflow_scripts/publish.py"
