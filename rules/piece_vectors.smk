# Embed the pieces of a model's vocabulary with the encoder that its training starts from. Vectors are kept by the
# pieces' text, so that another vocabulary embeds only its new pieces.
rule piece_vectors:
    input:
        vocabulary=vocabulary,
        encoder=lambda wildcards: files_of(model(wildcards)["train"]["init_encoder"]),
    output:
        "results/{model}/piece_vectors.safetensors",
    log:
        "results/{model}/logs/piece_vectors.log",
    benchmark:
        "results/{model}/benchmarks/piece_vectors.tsv"
    threads: lambda wildcards: model(wildcards)["train"]["threads"]
    resources:
        mem_mb=mem_mb(3000),
        runtime=runtime(120),
    params:
        encoder=setting("train", "init_encoder"),
        version=VERSION["piece_vectors"],
        threads=lambda wildcards, input: model(wildcards)["train"]["threads"],
    message:
        "Embedding the pieces of {wildcards.model} by the encoder that it starts from"
    script:
        "../workflow_scripts/piece_vectors.py"
