# Train one sentencepiece model for both languages.
def normalisation(wildcards):
    """Return the name of the rules that the sentencepiece model gets."""
    entry = model(wildcards)
    normalised = not re.fullmatch(TRANSLATORS, wildcards.model) and entry.normalisation
    return normalised or name_of_normalisation(visible=False, arabic=entry.folds_arabic)


rule subword:
    input:
        training_pairs,
    output:
        model="results/{model}/sentencepiece.model",
        report="results/{model}/sentencepiece.json",
    log:
        "results/{model}/logs/subword.log",
    benchmark:
        "results/{model}/benchmarks/subword.tsv"
    threads: lambda wildcards: model(wildcards)["subword"]["threads"]
    resources:
        mem_mb=mem_mb(subword_mb),
        runtime=runtime(480),
    params:
        settings=setting("subword"),
        normalisation=normalisation,
        corpus_languages=lambda wildcards: [
            list(part.languages) for part in model(wildcards).parts
        ],
        seed=attribute("seed"),
        version=VERSION["subword"],
    message:
        "Training sentencepiece for {wildcards.model}"
    script:
        "../workflow_scripts/subword.py"
