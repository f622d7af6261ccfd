# Train a translator on bitext that the rules of a model's corpora have filtered, ranked and deduplicated: mix it, hold
# pairs out by sentence, train subwords and the translator. Here the wildcard `model` is translators/<name>.


# Holds nothing out: the rule below does so by corpus.
use rule mix as mix_translator with:
    output:
        pairs=scratch("results/{model}/pairs/mix.tsv"),
        heldout=temp("results/{model}/pairs/none.tsv"),
        report="results/{model}/pairs/mix.json",
    log:
        "results/{model}/logs/mix.log",
    benchmark:
        "results/{model}/benchmarks/mix.tsv"
    wildcard_constraints:
        model=TRANSLATORS,
    message:
        "Mixing the corpora of {wildcards.model}"


rule translator_heldout:
    input:
        "results/{model}/pairs/mix.tsv",
    output:
        pairs="results/{model}/pairs/train.tsv",
        heldout="results/{model}/pairs/heldout.tsv",
        report="results/{model}/pairs/heldout.json",
    log:
        "results/{model}/logs/translator_heldout.log",
    benchmark:
        "results/{model}/benchmarks/translator_heldout.tsv"
    wildcard_constraints:
        model=TRANSLATORS,
    threads: 1
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(120),
    params:
        corpora=lambda wildcards: [part.corpus for part in model(wildcards).parts],
        sets=of_translator("heldout"),
        development=of_translator("development"),
        version=VERSION["translator_heldout"],
    message:
        "Holding pairs out of {wildcards.model}"
    script:
        "../workflow_scripts/translator_heldout.py"


use rule subword as subword_translator with:
    input:
        "results/{model}/pairs/train.tsv",
    output:
        model="results/{model}/sentencepiece.model",
        report="results/{model}/sentencepiece.json",
    log:
        "results/{model}/logs/subword.log",
    benchmark:
        "results/{model}/benchmarks/subword.tsv"
    wildcard_constraints:
        model=TRANSLATORS,
    message:
        "Training sentencepiece for {wildcards.model}"


rule translator:
    input:
        pairs="results/{model}/pairs/train.tsv",
        heldout="results/{model}/pairs/heldout.tsv",
        sentencepiece=lambda wildcards: of_translator("sentencepiece")(wildcards)
        or f"results/{wildcards.model}/sentencepiece.model",
    output:
        [f"results/{{model}}/model/{name}" for name in TRANSLATOR_FILES],
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/translator.json",
    log:
        "results/{model}/logs/translator.log",
    benchmark:
        "results/{model}/benchmarks/translator.tsv"
    wildcard_constraints:
        model=TRANSLATORS,
    threads: of_translator("threads")
    resources:
        mem_mb=mem_mb(3000),
        runtime=runtime(2880),
    params:
        settings=lambda wildcards: {
            key: value
            for key, value in CONFIG.translator(name_of(wildcards)).train.items()
            if key not in BEFORE and key not in TRANSLATOR_JOB
        },
        languages=attribute("languages"),
        corpora=lambda wildcards: [part.corpus for part in model(wildcards).parts],
        seed=attribute("seed"),
        # Not compared: they do not affect the translator, or cannot be known.
        job=lambda wildcards, input: {
            key: of_translator(key)(wildcards) for key in TRANSLATOR_JOB
        },
        # Not the rule's threads, which Snakemake limits to --cores.
        threads=lambda wildcards, input: of_translator("threads")(wildcards),
        version=VERSION["translator"],
    message:
        "Training {wildcards.model}"
    script:
        "../workflow_scripts/translator.py"
