# Filter the pairs of a corpus.
def scored(wildcards):
    """Return the sets on which the model is scored, whose sentences are kept out of training."""
    settings = part_of(wildcards).filters["decontaminate"]
    if not settings["enabled"]:
        return {}
    sets = evaluated(wildcards).items()
    found = {key: value for key, value in sets if key in settings["sets"]}
    if "development" in settings["sets"]:
        found |= chosen_by(wildcards)
    return {"languages": model(wildcards).languages, **found}


def encoder(wildcards):
    """Return the files of the similarity filter's encoder; changing them reruns the filter."""
    wanted = part_of(wildcards).filters["similarity"]
    return files_of(wanted["encoder"]) if wanted["enabled"] else []


#: What filtering a corpus needs, besides its file.
TO_FILTER = {
    "beside": lambda wildcards: part_of(wildcards).beside,
    "tests": lambda wildcards: evaluated_files(wildcards, scored(wildcards)),
    "lid": branch(
        lambda wildcards: needs_lid(part_of(wildcards).filters),
        then=[download(CONFIG.lid())],
    ),
    "encoder": encoder,
}


def to_filter(wildcards):
    """Return what is read."""
    return {
        "corpus": origin(wildcards.model, part_of(wildcards), ".tsv"),
        **{name: files(wildcards) for name, files in TO_FILTER.items()},
    }


def segmenters(wildcards):
    """Return how each side is segmented: as its language says, else as the model segments any text in use."""
    entry = model(wildcards)
    own = {one: how for one, how in entry["segment"].items() if one in entry.languages}
    in_use = [how for how in own.values() if how["inference"]]
    sides = {
        one: own.get(one, next(iter(in_use), None))
        for one in part_of(wildcards).languages
    }
    return {one: how for one, how in sides.items() if how}


def filter_threads(wildcards, input):
    """Return the processes that filter a corpus: at most one for 50,000 pairs, or if their number is not known, for 4 MB."""
    part, most = part_of(wildcards), part_of(wildcards).filters["threads"]
    file = Path(input.corpus)
    blocks = None if part.sources else counts.count(CONFIG.corpora, part)
    if blocks is not None:
        blocks //= 50_000
    elif file.exists():  # as when the job is submitted, for which Snakemake asks again
        blocks = file.stat().st_size // 4_000_000
    return most if blocks is None else min(most, max(1, blocks))


rule filter:
    input:
        unpack(to_filter),
    output:
        pairs=scratch("results/{model}/pairs/filter/{part}.tsv"),
        report="results/{model}/pairs/filter/{part}.json",
        dropped="results/{model}/pairs/filter/{part}.dropped.tsv",
    log:
        "results/{model}/logs/filter/{part}.log",
    benchmark:
        "results/{model}/benchmarks/filter/{part}.tsv"
    wildcard_constraints:
        model=MODEL_OR_TRANSLATOR,
    threads: filter_threads
    resources:
        # The identifier's model is shared; each process has its blocks of pairs.
        mem_mb=mem_mb(
            lambda wildcards, input: 800 + 200 * filter_threads(wildcards, input)
        ),
        runtime=runtime(240, rates.FILTER_RATE),
    params:
        filters=lambda wildcards: FiltersBlock.tracked(part_of(wildcards).filters),
        tests=scored,
        custom=lambda wildcards: own_filters(part_of(wildcards)),
        segment=segmenters,
        part=lambda wildcards: about(
            part_of(wildcards), "corpus", "opus", "kind", "languages", "names"
        ),
        # A translator keeps case and spacing.
        prepared=lambda wildcards: not re.fullmatch(TRANSLATORS, wildcards.model),
        normalisation=attribute("normalisation"),
        seed=attribute("seed"),
        version=VERSION["filter"],
        # Depends on `input`, so it is not compared: it only controls warnings.
        warn_share=lambda wildcards, input: part_of(wildcards).filters["warn_share"],
    message:
        "Filtering {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/filter.py"
