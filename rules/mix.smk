# Mix a model's corpora into one shuffled file, and hold out a slice for validation.
def deduped(wildcards):
    downloads(model(wildcards))
    return of_corpora("dedupe", ".tsv")(wildcards)


rule mix:
    input:
        deduped,
    output:
        pairs=scratch("results/{model}/pairs/mix.tsv"),
        heldout="results/{model}/pairs/heldout.tsv",
        report="results/{model}/pairs/mix.json",
    log:
        "results/{model}/logs/mix.log",
    benchmark:
        "results/{model}/benchmarks/mix.tsv"
    wildcard_constraints:
        model=FROM_STORE,
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(60, rates.MIX_RATE),
    params:
        labels=lambda wildcards: [part.label for part in model(wildcards).parts],
        text=lambda wildcards: [
            index for index, part in enumerate(model(wildcards).parts) if part.is_text
        ],
        heldout=setting("development", "heldout"),
        seed=attribute("seed"),
        version=VERSION["mix"],
    message:
        "Mixing the corpora of {wildcards.model}"
    script:
        "../workflow_scripts/mix.py"


# The same for a transformer, which is trained on the text itself: it is kept.
use rule mix as mix_text with:
    output:
        pairs="results/{model}/pairs/mix.tsv",
        heldout="results/{model}/pairs/heldout.tsv",
        report="results/{model}/pairs/mix.json",
    log:
        "results/{model}/logs/mix_text.log",
    benchmark:
        "results/{model}/benchmarks/mix_text.tsv"
    wildcard_constraints:
        model=FROM_TEXT,
    message:
        "Mixing the corpora of {wildcards.model}, a transformer"
