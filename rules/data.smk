# A report on the training data, in Markdown and JSON.
rule data:
    input:
        files=lambda wildcards: [
            file
            for part in model(wildcards).parts
            for file in (origin(wildcards.model, part), *part.beside)
        ],
        records=lambda wildcards: [
            f"{download(part.download)}.json"
            for part in model(wildcards).parts
            if part.download
        ],
        filter=of_corpora("filter"),
        dropped=of_corpora("filter", ".dropped.tsv"),
        rank=ranked_reports,
        dedupe=of_corpora("dedupe"),
        mix="results/{model}/pairs/mix.json",
        near=near_duplicates,
        store=stored,
    output:
        json="results/{model}/data.json",
        text="results/{model}/data.md",
    log:
        "results/{model}/logs/data.log",
    benchmark:
        "results/{model}/benchmarks/data.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(30),
    params:
        parts=lambda wildcards: [
            {
                **about(part, "label", "kind", "version", "licence"),
                "file": origin(wildcards.model, part),
                "beside": part.beside,
                "record": f"{download(part.download)}.json" if part.download else None,
                "warn_share": part.filters["warn_share"],
                "ranked": part.ranked,
            }
            for part in model(wildcards).parts
        ],
        languages=attribute("languages"),
        recipe=attribute("recipe"),
        warn_pairs=setting("mix", "warn_pairs"),
        version=VERSION["data"],
    message:
        "Reporting the training data of {wildcards.model}"
    script:
        "../workflow_scripts/data.py"
