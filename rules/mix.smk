# Remove duplicates, and mix a model's corpora into one shuffled file.


def filtered(w):
    """Return a corpus's pairs after the filters, and after ranking if it is ranked."""
    stage = "rank" if part_of(w).ranked else "filter"
    return f"results/{w.model}/pairs/{stage}/{w.part}.tsv"


# Remove a corpus's duplicates, shuffle its pairs and cut it to its cap.
rule dedupe:
    input:
        filtered,
    output:
        pairs=scratch("results/{model}/pairs/dedupe/{part}.tsv"),
        report="results/{model}/pairs/dedupe/{part}.json",
    log:
        "results/{model}/logs/dedupe/{part}.log",
    benchmark:
        "results/{model}/benchmarks/dedupe/{part}.tsv"
    wildcard_constraints:
        model=MODEL_OR_TRANSLATOR,
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(60, rates.DEDUPE_RATE),
    params:
        corpus=lambda w: part_of(w).corpus,
        cap=lambda w: part_of(w).cap,
        seed=attribute("seed"),
        version=VERSION["dedupe"],
    message:
        "Removing duplicates of {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/dedupe.py"


# Mix the corpora, and hold out a slice for validation.
rule mix:
    input:
        lambda w: of_corpora("dedupe", ".tsv")(w) if checked(w) else [],
    output:
        pairs=scratch("results/{model}/pairs/mix.tsv"),
        heldout="results/{model}/pairs/heldout.tsv",
        report="results/{model}/pairs/mix.json",
    log:
        "results/{model}/logs/mix.log",
    benchmark:
        "results/{model}/benchmarks/mix.tsv"
    wildcard_constraints:
        model=made_by("train", "train_vocabulary", "train_joint"),
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(60, rates.MIX_RATE),
    params:
        labels=of_parts("label"),
        text=lambda w: [index for index, part in enumerate(model(w).parts) if part.is_text],
        heldout=setting("development", "heldout"),
        seed=attribute("seed"),
        version=VERSION["mix"],
    message:
        "Mixing the corpora of {wildcards.model}"
    script:
        "../workflow_scripts/mix.py"


# A transformer is trained on the text itself: it is kept.
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
        model=made_by("train_transformer"),


# Remove near-duplicates, if the model uses that.
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
    resources:
        mem_mb=mem_mb(lambda w, input: 500 + 2 * input.size_mb),
        runtime=runtime(60, rates.NEARDUP_RATE),
    params:
        labels=of_parts("label"),
        threshold=setting("mix", "near_duplicates", "threshold"),
        seed=attribute("seed"),
        version=VERSION["neardup"],
    message:
        "Removing near-duplicates for {wildcards.model}"
    script:
        "../workflow_scripts/neardup.py"
