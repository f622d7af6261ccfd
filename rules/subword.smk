# Train one sentencepiece model for both languages.
def folds_arabic(wildcards):
    """Return whether the model folds Arabic letters."""
    entry = model(wildcards)
    return entry["subword"]["arabic"] == "folded" or (
        entry["subword"]["arabic"] == "auto" and "ar" in entry.languages
    )


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
        arabic=folds_arabic,
        corpus_languages=lambda wildcards: [
            list(part.languages) for part in model(wildcards).parts
        ],
        seed=attribute("seed"),
        code=fingerprint("psp.pairs.subword"),
    message:
        "Training sentencepiece for {wildcards.model}"
    script:
        "../workflow_scripts/subword.py"
