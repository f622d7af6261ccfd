# A lexicon: pairs of words that match across the sides of a model's pairs, after deduplication.


def lexicon_labels(w, *, used=True):
    """Return the corpora in the lexicon's languages; or else the others."""
    languages = CONFIG.of_lexicon(w.model)
    return [part.label for part in checked(w).parts if (part.languages == languages and not part.is_text) == used]


def word_sets(w):
    """Return the tasks on words that the lexicon is scored on."""
    added = model(w)["evaluate"]["tasks"]
    return {name: entry for name, entry in added.items() if entry["task"] == "word_similarity"}


rule lexicon:
    input:
        pairs=lambda w: [f"results/{w.model}/pairs/dedupe/{label}.tsv" for label in lexicon_labels(w)],
        words=lambda w: scored_sets.files(CONFIG, model(w), {"tasks": word_sets(w)}),
    output:
        pairs="results/{model}/lexicon.tsv",
        report="results/{model}/lexicon.json",
    log:
        "results/{model}/logs/lexicon.log",
    benchmark:
        "results/{model}/benchmarks/lexicon.tsv"
    resources:
        mem_mb=mem_mb(lambda w, input: 1500 + 5 * input.size_mb),
        runtime=runtime(240),
    params:
        languages=lambda w: CONFIG.of_lexicon(w.model),
        labels=lexicon_labels,
        left_out=lambda w: lexicon_labels(w, used=False),
        settings=setting("lexicon"),
        tasks=word_sets,
        resamples=setting("evaluate", "resamples"),
        seed=attribute("seed"),
        version=VERSION["lexicon"],
    message:
        "Making a lexicon of the pairs of {wildcards.model}"
    script:
        "../workflow_scripts/lexicon.py"
