# Remove a corpus's duplicates, shuffle its pairs and cut it to its cap.
def filtered(wildcards):
    """Return a corpus's pairs after the filters, and after ranking if it is ranked."""
    stage = "rank" if part_of(wildcards).ranked else "filter"
    return f"results/{wildcards.model}/pairs/{stage}/{wildcards.part}.tsv"


rule dedupe:
    input:
        filtered,
    output:
        pairs=scratch("results/{model}/pairs/dedupe/{part}.tsv"),
        report="results/{model}/pairs/dedupe/{part}.json",
    log:
        "results/{model}/logs/dedupe/{part}.log",
    benchmark:
        "results/{model}/benchmarks/dedupe/{part}.tsv"
    wildcard_constraints:
        model=MODEL_OR_TRANSLATOR,
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(60, rates.DEDUPE_RATE),
    params:
        corpus=lambda wildcards: part_of(wildcards).corpus,
        cap=lambda wildcards: part_of(wildcards).cap,
        seed=attribute("seed"),
        version=VERSION["dedupe"],
    message:
        "Removing duplicates of {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/dedupe.py"
