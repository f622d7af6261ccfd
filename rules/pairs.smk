# From archives to one shuffled file of distinct pairs: filter, dedupe (each corpus), mix (all of them), neardup.
def corpus(wildcards):
    """A download, or a file of the user's own."""
    part = part_of(wildcards)
    return part.path or download(part.download)


def lid(wildcards):
    wanted = part_of(wildcards).filters["language"]["enabled"]
    return [download(CONFIG.lid())] if wanted else []


def scored(wildcards):
    """Which sets the model is scored on: their sentences are kept out of training."""
    entry = model(wildcards)
    if not part_of(wildcards).filters["decontaminate"]["enabled"]:
        return {}
    return {
        "languages": entry.languages,
        "sts": test_sets(wildcards).get("sts"),
        "tatoeba": {
            language: [download(file) for file in pair]
            for language, pair in CONFIG.tatoeba(entry).items()
        },
        "files": entry["evaluate"]["files"],
        "development": entry["development"]["sts"],
        "archive": development(wildcards).get("archive"),
    }


def scored_files(wildcards):
    if not scored(wildcards):
        return []
    sets, chosen = test_sets(wildcards), development(wildcards)
    files = [sets.get("sts"), *sets["tatoeba"], *sets["files"]]
    files += [chosen.get("archive"), chosen.get("sts")]
    return sorted(set(filter(None, files)))


def encoder(wildcards):
    """What the similarity filter reads: a change of it reruns the filter."""
    wanted = part_of(wildcards).filters["similarity"]
    return encoder_files(wanted["encoder"]) if wanted["enabled"] else []


def custom_code(wildcards):
    """Fingerprints of the user's own filters."""
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
    # Two workers take 1.6 times as many pairs/s as one, two corpora side by side twice as many.
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
        part=lambda wildcards: {
            name: getattr(part_of(wildcards), name)
            for name in ("corpus", "opus", "kind", "languages", "names")
        },
        seed=attribute("seed"),
        code=fingerprint("psp.corpora", "psp.filters", "psp.segment", "psp.testsets"),
        # A function of `input` is not compared: what is only said drops no other pair.
        warn_share=lambda wildcards, input: part_of(wildcards).filters["warn_share"],
    message:
        "Filtering {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/filter.py"


rule dedupe:
    input:
        "results/{model}/pairs/filter/{part}.tsv",
    output:
        pairs=scratch("results/{model}/pairs/dedupe/{part}.tsv"),
        report="results/{model}/pairs/dedupe/{part}.json",
    log:
        "results/{model}/logs/dedupe/{part}.log",
    benchmark:
        "results/{model}/benchmarks/dedupe/{part}.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(120),
    params:
        cap=lambda wildcards: part_of(wildcards).cap,
        corpus=lambda wildcards: part_of(wildcards).corpus,
        shards=setting("mix", "shards"),
        seed=attribute("seed"),
        code=fingerprint("psp.dedupe"),
    message:
        "Removing duplicates of {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/dedupe.py"


rule mix:
    input:
        lambda wildcards: [
            f"results/{wildcards.model}/pairs/dedupe/{part.label}.tsv"
            for part in downloads(model(wildcards)).parts
        ],
    output:
        pairs=scratch("results/{model}/pairs/mix.tsv"),
        heldout="results/{model}/pairs/heldout.tsv",
        report="results/{model}/pairs/mix.json",
    log:
        "results/{model}/logs/mix.log",
    benchmark:
        "results/{model}/benchmarks/mix.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(120),
    params:
        labels=lambda wildcards: [part.label for part in model(wildcards).parts],
        heldout=setting("development", "heldout"),
        shards=setting("mix", "shards"),
        seed=attribute("seed"),
        code=fingerprint("psp.dedupe"),
    message:
        "Mixing the corpora of {wildcards.model}"
    script:
        "../workflow_scripts/mix.py"


rule neardup:
    input:
        "results/{model}/pairs/mix.tsv",
    output:
        pairs=scratch("results/{model}/pairs/neardup.tsv"),
        report="results/{model}/pairs/neardup.json",
        dropped="results/{model}/pairs/neardup.dropped.tsv",
    log:
        "results/{model}/logs/neardup.log",
    benchmark:
        "results/{model}/benchmarks/neardup.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(240),
    params:
        labels=lambda wildcards: [part.label for part in model(wildcards).parts],
        threshold=setting("mix", "near_duplicates", "threshold"),
        shards=setting("mix", "shards"),
        seed=attribute("seed"),
        code=fingerprint("psp.neardup"),
    message:
        "Removing near-duplicates for {wildcards.model}"
    script:
        "../workflow_scripts/neardup.py"
