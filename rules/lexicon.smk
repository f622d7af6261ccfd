# A lexicon: pairs of words that match across the sides of a model's pairs, after deduplication.
def lexicon_labels(wildcards, *, used=True):
    """Return the corpora in these languages; or else the others."""
    languages = CONFIG.of_lexicon(wildcards.model)
    return [
        part.label
        for part in downloads(model(wildcards)).parts
        if (part.languages == languages and not part.is_text) == used
    ]


def word_sets(wildcards):
    """Return the tasks on words that the lexicon is scored on."""
    tasks = model(wildcards)["evaluate"]["tasks"]
    return {
        name: entry
        for name, entry in tasks.items()
        if entry["task"] == "word_similarity"
    }


rule lexicon:
    input:
        pairs=lambda wildcards: [
            f"results/{wildcards.model}/pairs/dedupe/{label}.tsv"
            for label in lexicon_labels(wildcards)
        ],
        words=lambda wildcards: evaluated_files(
            wildcards, {"tasks": word_sets(wildcards)}
        ),
    output:
        pairs="results/{model}/lexicon.tsv",
        report="results/{model}/lexicon.json",
    log:
        "results/{model}/logs/lexicon.log",
    benchmark:
        "results/{model}/benchmarks/lexicon.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(lambda wildcards, input: 1500 + 5 * input.size_mb),
        runtime=runtime(240),
    params:
        languages=lambda wildcards: CONFIG.of_lexicon(wildcards.model),
        labels=lexicon_labels,
        left_out=lambda wildcards: lexicon_labels(wildcards, used=False),
        settings=setting("lexicon"),
        tasks=word_sets,
        resamples=setting("evaluate", "resamples"),
        seed=attribute("seed"),
        version=VERSION["lexicon"],
    message:
        "Making a lexicon of the pairs of {wildcards.model}"
    script:
        "../workflow_scripts/lexicon.py"
