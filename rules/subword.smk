# Train one sentencepiece model for both languages.
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
        seed=attribute("seed"),
        code=fingerprint("psp.pairs.subword"),
    message:
        "Training sentencepiece for {wildcards.model}"
    script:
        "../workflow_scripts/subword.py"
