# The store of a model's pairs, and reports on them.


# Encode the pairs as ids in HDF5.
rule store:
    input:
        pairs=training_pairs,
        vocabulary=vocabulary,
    output:
        "results/{model}/store.h5",
    log:
        "results/{model}/logs/store.log",
    benchmark:
        "results/{model}/benchmarks/store.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(60, rates.STORE_RATE),
    params:
        languages=attribute("languages"),
        corpora=of_parts("label"),
        corpus_languages=of_parts("languages"),
        max_pieces=setting("store", "max_pieces"),
        version=VERSION["store"],
    message:
        "Encoding the pairs of {wildcards.model}"
    script:
        "../workflow_scripts/store.py"


def record(part):
    """Return the record of a corpus's download, if it is one."""
    return f"{DOWNLOADS}/{part.download}.json" if part.download else None


def reported_parts(w):
    """Return what the report on the training data says of each corpus, and where it comes from."""
    return [
        {
            **{name: getattr(part, name) for name in ("label", "kind", "version", "licence", "beside", "ranked")},
            "file": origin(w, part),
            "record": record(part),
            "warn_share": part.filters["warn_share"],
        }
        for part in model(w).parts
    ]


# A report on the training data, in Markdown and JSON.
rule data:
    input:
        files=lambda w: [file for part in model(w).parts for file in (origin(w, part), *part.beside)],
        records=lambda w: [record(part) for part in model(w).parts if part.download],
        filter=of_corpora("filter"),
        dropped=of_corpora("filter", ".dropped.tsv"),
        rank=of_corpora("rank"),
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
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(30),
    params:
        parts=reported_parts,
        languages=attribute("languages"),
        recipe=attribute("recipe"),
        warn_pairs=setting("mix", "warn_pairs"),
        version=VERSION["data"],
    message:
        "Reporting the training data of {wildcards.model}"
    script:
        "../workflow_scripts/data.py"


# Statistics of the corpora, and a sheet for annotators; nothing else depends on them.
rule stats:
    input:
        # The output of filter: the text that training reads, corpus by corpus, with its scores. After dedupe, a pair
        # that several corpora share would be in only one; after mix there are no scores.
        pairs=of_corpora("filter", ".tsv"),
        labels=setting("stats", "labels"),
        idf=lambda w: sorted(set(model(w)["stats"]["idf_from"].values())),
    output:
        json="results/{model}/stats.json",
        text="results/{model}/stats.md",
        sheet="results/{model}/stats.sheet.tsv",
    log:
        "results/{model}/logs/stats.log",
    benchmark:
        "results/{model}/benchmarks/stats.tsv"
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(120),
    params:
        parts=lambda w: [
            {"label": part.label, "languages": part.languages, "kind": part.kind} for part in model(w).parts
        ],
        settings=setting("stats"),
        seed=attribute("seed"),
        version=VERSION["stats"],
    message:
        "Measuring the corpora of {wildcards.model}"
    script:
        "../workflow_scripts/stats.py"
