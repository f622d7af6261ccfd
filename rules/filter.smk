# Filter the pairs of a corpus.
def corpus(wildcards):
    """Return the corpus's file: a download, the user's own, or what was made of bitext."""
    part = part_of(wildcards)
    if part.sources:
        return f"results/{wildcards.model}/pairs/{part.of.made_by}/{part.label}.tsv"
    return part.path or download(part.download)


def lid(wildcards):
    wanted = part_of(wildcards).filters["language"]["enabled"]
    return [download(CONFIG.lid())] if wanted else []


def scored(wildcards):
    """Return the sets on which the model is scored, whose sentences are kept out of training."""
    settings = part_of(wildcards).filters["decontaminate"]
    if not settings["enabled"]:
        return {}
    found = {
        key: value
        for key, value in evaluated(wildcards).items()
        if key in settings["sets"]
    }
    if "development" in settings["sets"]:
        entry = downloads(model(wildcards))
        archive = CONFIG.sts_development(entry)
        found["development"] = entry["development"]["sts"]
        found["archive"] = download(archive) if archive else None
    return {"languages": model(wildcards).languages, **found}


def scored_files(wildcards):
    sets = scored(wildcards)
    own = [] if sets.get("archive") else [sets.get("development")]
    return sorted({*evaluated_files(wildcards, sets), *filter(None, own)})


def encoder(wildcards):
    """Return the files of the similarity filter's encoder; changing them reruns the filter."""
    wanted = part_of(wildcards).filters["similarity"]
    return files_of(wanted["encoder"]) if wanted["enabled"] else []


def custom_code(wildcards):
    """Return fingerprints of the user's own filters."""
    try:
        return custom.fingerprint(part_of(wildcards).filters["custom"])
    except PspError as error:
        raise WorkflowError(failures.tell(error))


rule filter:
    input:
        tests=scored_files,
        corpus=corpus,
        lid=lid,
        encoder=encoder,
    output:
        pairs=scratch("results/{model}/pairs/filter/{part}.tsv"),
        report="results/{model}/pairs/filter/{part}.json",
        dropped="results/{model}/pairs/filter/{part}.dropped.tsv",
    log:
        "results/{model}/logs/filter/{part}.log",
    benchmark:
        "results/{model}/benchmarks/filter/{part}.tsv"
    # Two workers process 1.6 times as many pairs/s as one; two corpora in parallel, twice as many.
    threads: lambda wildcards: 2 if len(model(wildcards).parts) == 1 else 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(240),
    params:
        filters=lambda wildcards: {
            key: value
            for key, value in part_of(wildcards).filters.items()
            if key != "warn_share"
        },
        tests=scored,
        custom=custom_code,
        segment=lambda wildcards: {
            language: how
            for language, how in model(wildcards)["segment"].items()
            if language in part_of(wildcards).languages
        },
        prepared=True,
        part=lambda wildcards: {
            name: getattr(part_of(wildcards), name)
            for name in ("corpus", "opus", "kind", "languages", "names")
        },
        seed=attribute("seed"),
        code=fingerprint(
            "psp.corpora",
            "psp.pairs.filters.*",
            "psp.text.segment",
            "psp.evaluation.testsets",
        ),
        # Depends on `input`, so it is not compared: it only controls warnings.
        warn_share=lambda wildcards, input: part_of(wildcards).filters["warn_share"],
    message:
        "Filtering {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/filter.py"
