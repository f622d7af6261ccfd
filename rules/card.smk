# The model card, with scores and training data: card.md, copied to README.md in the model folder.
def carded(wildcards):
    """Return the models whose data the card lists: its parts, if they are only joined."""
    entry = model(wildcards)
    if not entry.of.block:
        return [CONFIG.model(part) for part, _ in entry.combined]
    return [entry]


rule card:
    input:
        model=trained,
        evaluate="results/{model}/eval.json",
        data=lambda wildcards: [
            f"results/{one.name}/data.json" for one in carded(wildcards)
        ],
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
        code=fingerprint("psp.models.card"),
    message:
        "Writing the model card of {wildcards.model}"
    script:
        "../workflow_scripts/card.py"
