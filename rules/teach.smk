# Embed the sentences of a model's pairs with its teacher, once; see psp/training/teaching/teach.py.
rule teach:
    input:
        pairs=training_pairs,
        encoder=lambda wildcards: files_of(model(wildcards)["teacher"]["encoder"]),
    output:
        targets="results/{model}/teacher.safetensors",
        report="results/{model}/teacher.json",
    log:
        "results/{model}/logs/teach.log",
    benchmark:
        "results/{model}/benchmarks/teach.tsv"
    threads: lambda wildcards: model(wildcards)["train"]["threads"]
    resources:
        mem_mb=mem_mb(teach_mb),
        runtime=runtime(2880),
    params:
        settings=lambda wildcards: {
            key: value
            for key, value in model(wildcards)["teacher"].items()
            if key in OF_VECTORS
        },
        corpora=lambda wildcards: [
            [list(part.languages), part.is_text] for part in model(wildcards).parts
        ],
        version=VERSION["teach"],
        # Not the rule's threads, which Snakemake limits to --cores: their number can change the last bits.
        threads=lambda wildcards, input: model(wildcards)["train"]["threads"],
    message:
        "Embedding the sentences of {wildcards.model} by its teacher"
    script:
        "../workflow_scripts/teach.py"
