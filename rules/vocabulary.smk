# A model's vocabulary: of subwords, or of words or trigrams.
from psp.text import normalisation_name
from psp.config.blocks.vocabulary import PIECES


def normalisation(w):
    """Return the name of the rules that the sentencepiece model gets; a translator's normalises nothing that is visible."""
    normalised = model(w).normalisation if w.model in CONFIG.models else None
    return normalised or normalisation_name(visible=False, arabic=model(w).folds_arabic)


# Train one sentencepiece model for all languages; a translator's is trained on the pairs that are not held out.
rule subword:
    input:
        lambda w: (training_pairs(w) if w.model in CONFIG.models else f"results/{w.model}/pairs/train.tsv"),
    output:
        model="results/{model}/sentencepiece.model",
        report="results/{model}/sentencepiece.json",
    log:
        "results/{model}/logs/subword.log",
    benchmark:
        "results/{model}/benchmarks/subword.tsv"
    wildcard_constraints:
        model=MODEL_OR_TRANSLATOR,
    threads: lambda w: model(w)["subword"]["threads"]
    resources:
        # It grows with its sample.
        mem_mb=mem_mb(lambda w, input: PIECES["subword"].making_mb(model(w).settings, float("inf"))),
        runtime=runtime(480),
    params:
        settings=setting("subword"),
        normalisation=normalisation,
        corpus_languages=of_parts("languages"),
        seed=attribute("seed"),
        version=VERSION["subword"],
    message:
        "Training sentencepiece for {wildcards.model}"
    script:
        "../workflow_scripts/subword.py"


# Collect words or trigrams.
rule vocabulary:
    input:
        training_pairs,
    output:
        vocabulary="results/{model}/vocabulary.txt",
        report="results/{model}/vocabulary.json",
    log:
        "results/{model}/logs/vocabulary.log",
    benchmark:
        "results/{model}/benchmarks/vocabulary.tsv"
    wildcard_constraints:
        model=made_by("train_vocabulary"),
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(120),
    params:
        kind=attribute("tokens"),
        settings=setting("vocabulary"),
        version=VERSION["vocabulary"],
    message:
        "Collecting the vocabulary of {wildcards.model}"
    script:
        "../workflow_scripts/vocabulary.py"
