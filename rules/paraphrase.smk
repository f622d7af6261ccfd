# Pairs made from bitext, mined or translated; and the pairs of a corpus that rank high or low.


def bitext_of(w):
    """Return the filtered pairs of the corpora that a mined or a translated one comes from."""
    folder = f"results/{w.model}/pairs/{part_of(w).of.made_by}/{w.part}"
    return [f"{folder}/{source.label}.tsv" for source in part_of(w).sources]


def translator_of(w):
    """Return the translator of a corpus."""
    return CONFIG.cleared_translator(part_of(w).translation["translator"])


# Bitext is filtered by filters of its own, and keeps its case and spacing. What is not given is as for any corpus;
# `part_of` (common.smk) knows the wildcard `bitext`.
use rule filter as filter_bitext with:
    output:
        pairs=scratch("results/{model}/pairs/{made_by}/{part}/{bitext}.tsv"),
        report="results/{model}/pairs/{made_by}/{part}/{bitext}.json",
        dropped="results/{model}/pairs/{made_by}/{part}/{bitext}.dropped.tsv",
    log:
        "results/{model}/logs/{made_by}/{part}/{bitext}.log",
    benchmark:
        "results/{model}/benchmarks/{made_by}/{part}/{bitext}.tsv"
    wildcard_constraints:
        made_by="pivot|backtranslate",
    params:
        prepared=False,
    message:
        "Filtering {wildcards.bitext}, to make {wildcards.part} for {wildcards.model}"


# Mine pairs: sentences that share a translation.
rule pivot:
    input:
        bitext_of,
    output:
        pairs=scratch("results/{model}/pairs/pivot/{part}.tsv"),
        report="results/{model}/pairs/pivot/{part}.json",
    log:
        "results/{model}/logs/pivot/{part}.log",
    benchmark:
        "results/{model}/benchmarks/pivot/{part}.tsv"
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(240),
    params:
        sources=lambda w: [[one.label, list(one.languages)] for one in part_of(w).sources],
        languages=lambda w: list(part_of(w).languages),
        through=lambda w: part_of(w).through,
        settings=lambda w: dict(part_of(w).pivot),
        seed=attribute("seed"),
        version=VERSION["pivot"],
    message:
        "Mining {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/pivot.py"


# Translate one side of bitext into the language of the other: paraphrases, with a score and a translation score.
rule backtranslate:
    input:
        bitext=bitext_of,
        translator=lambda w: translator_of(w).files,
        encoder=lambda w: files_of(part_of(w).translation["encoder"]),
    output:
        pairs=scratch("results/{model}/pairs/backtranslate/{part}.tsv"),
        report="results/{model}/pairs/backtranslate/{part}.json",
    log:
        "results/{model}/logs/backtranslate/{part}.log",
    benchmark:
        "results/{model}/benchmarks/backtranslate/{part}.tsv"
    # The threads of a command are unknown.
    threads: lambda w: part_of(w).translation["threads"]
    resources:
        mem_mb=mem_mb(3000),
        runtime=runtime(2880),
    params:
        sources=lambda w: [[one.label, one.languages.index(part_of(w).through)] for one in part_of(w).sources],
        languages=lambda w: list(part_of(w).languages),
        through=lambda w: part_of(w).through,
        name=lambda w: translator_of(w).name,
        translator=lambda w: dict(translator_of(w).settings),
        encoder=lambda w: part_of(w).translation["encoder"],
        sample=lambda w: part_of(w).translation["sample"],
        seed=attribute("seed"),
        # Not compared: the translations are the same.
        threads=lambda w, input: part_of(w).translation["threads"],
        version=VERSION["backtranslate"],
    message:
        "Translating {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/backtranslate.py"


def overlap_settings(w):
    """Return how the filter counts shared trigrams, if ranking is by these."""
    part = part_of(w)
    wanted = part.filters["overlap"] if part.rank["by"] == "overlap" else {}
    return {key: wanted[key] for key in ("repeated", "tokens") if key in wanted}


# Keep the pairs of a corpus whose rank by a value lies in some deciles.
rule rank:
    input:
        "results/{model}/pairs/filter/{part}.tsv",
    output:
        pairs=scratch("results/{model}/pairs/rank/{part}.tsv"),
        report="results/{model}/pairs/rank/{part}.json",
    log:
        "results/{model}/logs/rank/{part}.log",
    benchmark:
        "results/{model}/benchmarks/rank/{part}.tsv"
    wildcard_constraints:
        model=MODEL_OR_TRANSLATOR,
    resources:
        # A byte per pair, of about 50 at least in its file.
        mem_mb=mem_mb(lambda w, input: 1000 + input.size_mb / 50),
        runtime=runtime(60, min(rates.RANK_RATE.values())),
    params:
        rank=lambda w: dict(part_of(w).rank),
        overlap=overlap_settings,
        corpus=lambda w: part_of(w).corpus,
        seed=attribute("seed"),
        # For an error: some may have the scores that another lacks. Not compared.
        others=lambda w, input: [
            (part.label, part.kind, own_file(part), part.names) for part in model(w).parts if not part.sources
        ],
        version=VERSION["rank"],
    message:
        "Ranking {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/rank.py"
