# The model card, with scores and training data: card.md, copied to README.md in the model folder.
rule card:
    input:
        model=trained,
        evaluate="results/{model}/eval.json",
        # That of its parts, if they are only joined.
        data=branch(
            lambda wildcards: model(wildcards).of.block,
            then=["results/{model}/data.json"],
            otherwise=of_joined("data.json"),
        ),
    output:
        "results/{model}/card.md",
    log:
        "results/{model}/logs/card.log",
    benchmark:
        "results/{model}/benchmarks/card.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        version=VERSION["card"],
    message:
        "Writing the model card of {wildcards.model}"
    script:
        "../workflow_scripts/card.py"
