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


def rows_to_filter(wildcards):
    """Return the rows of one of several jobs."""
    number, _ = shard_of("filter")(wildcards)
    return shards.rows(CONFIG.corpora, part_of(wildcards))[number - 1]


def to_filter(wildcards):
    """Return what is read: the corpora, or the output of the jobs for one corpus's shards."""
    corpora = each(wildcards)
    whole = wildcards.get("part") and not wildcards.get("shard")
    if whole and jobs(wildcards, "filter") > 1:
        return of_jobs(wildcards, "filter", "tsv", "json", "dropped.tsv")
    return {
        "corpus": [origin(one.model, part_of(one), ".tsv") for one in corpora.values()],
        **{
            name: sorted({file for one in corpora.values() for file in files(one)})
            for name, files in TO_FILTER.items()
        },
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


#: What filtering a corpus depends on, besides its file.
OF_CORPUS = {
    "filters": lambda wildcards: tracked(filter_section(), part_of(wildcards).filters),
    "tests": scored,
    "custom": lambda wildcards: own_filters(part_of(wildcards)),
    "segment": segmenters,
    "part": lambda wildcards: about(
        part_of(wildcards), "corpus", "opus", "kind", "languages", "names"
    ),
}


def filter_threads(wildcards):
    """Return one worker per corpus, up to four; two if the corpus is the model's only one.

    Two workers process 1.6 times as many pairs/s of a corpus as one; two corpora in parallel, twice as many.
    """
    if len(model(wildcards).parts) == 1:
        return 2
    return min(len(each(wildcards)), 4)


for _of in stage_rules("filter"):

    rule:
        name:
            _of.name
        input:
            unpack(to_filter),
        output:
            pairs=[
                scratch(f"results/{{model}}/pairs/filter/{label}.tsv")
                for label in _of.labels
            ],
            report=[
                f"results/{{model}}/pairs/filter/{label}.json" for label in _of.labels
            ],
            dropped=[
                f"results/{{model}}/pairs/filter/{label}.dropped.tsv"
                for label in _of.labels
            ],
        log:
            f"results/{{model}}/logs/{_of.log}.log",
        benchmark:
            f"results/{{model}}/benchmarks/{_of.log}.tsv"
        wildcard_constraints:
            model=_of.models,
        threads: filter_threads
        resources:
            mem_mb=mem_mb(1000 * min(_of.at_once, 2)),
            runtime=runtime(240),
        params:
            corpora=lambda wildcards: {
                label: {key: value(one) for key, value in OF_CORPUS.items()}
                for label, one in each(wildcards).items()
            },
            rows=None,  # of a shard's job
            # A translator keeps case and spacing.
            prepared=lambda wildcards: not re.fullmatch(TRANSLATORS, wildcards.model),
            normalisation=attribute("normalisation"),
            seed=attribute("seed"),
            code=fingerprint(
                "psp.corpora",
                "psp.pairs.filters.*",
                "psp.text.segment",
                "psp.evaluation.testsets",
            ),
            # Depends on `input`, so it is not compared: it only controls warnings.
            warn_shares=lambda wildcards, input: [
                part_of(one).filters["warn_share"] for one in each(wildcards).values()
            ],
        message:
            f"Filtering {_of.what} for {{wildcards.model}}"
        script:
            "../workflow_scripts/filter.py"


# One of the jobs that a large corpus is split among. The rule above then joins their output.
use rule filter as filter_shard with:
    output:
        pairs=temp("results/{model}/pairs/filter/{part}/{shard}-of-{shards}.tsv"),
        report=temp("results/{model}/pairs/filter/{part}/{shard}-of-{shards}.json"),
        dropped=temp(
            "results/{model}/pairs/filter/{part}/{shard}-of-{shards}.dropped.tsv"
        ),
    log:
        "results/{model}/logs/filter/{part}/{shard}-of-{shards}.log",
    benchmark:
        "results/{model}/benchmarks/filter/{part}/{shard}-of-{shards}.tsv"
    threads: 1
    params:
        rows=rows_to_filter,
    message:
        "Filtering {wildcards.part} for {wildcards.model}, part {wildcards.shard} of {wildcards.shards}"
