# Translate one side of bitext into the language of the other: paraphrases, with a score and a translation score. The
# bitext is filtered first, by filters of its own, and keeps its case and spacing, as for pivot.
use rule filter as filter_translated with:
    output:
        pairs=scratch("results/{model}/pairs/backtranslate/{part}/{bitext}.tsv"),
        report="results/{model}/pairs/backtranslate/{part}/{bitext}.json",
        dropped="results/{model}/pairs/backtranslate/{part}/{bitext}.dropped.tsv",
    log:
        "results/{model}/logs/backtranslate/{part}/{bitext}.log",
    benchmark:
        "results/{model}/benchmarks/backtranslate/{part}/{bitext}.tsv"
    params:
        prepared=False,
    message:
        "Filtering {wildcards.bitext}, to translate {wildcards.part} for {wildcards.model}"


def translator_of(wildcards):
    """Return the translator of a corpus."""
    return CONFIG.cleared_translator(part_of(wildcards).translation["translator"])


rule backtranslate:
    input:
        bitext=bitext_of,
        translator=lambda wildcards: translator_of(wildcards).files,
        encoder=lambda wildcards: files_of(part_of(wildcards).translation["encoder"]),
    output:
        pairs=scratch("results/{model}/pairs/backtranslate/{part}.tsv"),
        report="results/{model}/pairs/backtranslate/{part}.json",
    log:
        "results/{model}/logs/backtranslate/{part}.log",
    benchmark:
        "results/{model}/benchmarks/backtranslate/{part}.tsv"
    # The threads of a command are unknown.
    threads: lambda wildcards: part_of(wildcards).translation["threads"]
    resources:
        mem_mb=mem_mb(3000),
        runtime=runtime(2880),
    params:
        sources=lambda wildcards: [
            [source.label, source.languages.index(part_of(wildcards).through)]
            for source in part_of(wildcards).sources
        ],
        languages=lambda wildcards: list(part_of(wildcards).languages),
        through=lambda wildcards: part_of(wildcards).through,
        name=lambda wildcards: translator_of(wildcards).name,
        translator=lambda wildcards: dict(translator_of(wildcards).settings),
        encoder=lambda wildcards: part_of(wildcards).translation["encoder"],
        sample=lambda wildcards: part_of(wildcards).translation["sample"],
        seed=attribute("seed"),
        # Not compared: the translations are the same.
        threads=lambda wildcards, input: part_of(wildcards).translation["threads"],
        version=VERSION["backtranslate"],
    message:
        "Translating {wildcards.part} for {wildcards.model}"
    script:
        "../workflow_scripts/backtranslate.py"
