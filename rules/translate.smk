# Train a translator on bitext that the rules of a model's corpora have filtered, ranked and deduplicated. Here the
# wildcard `model` is translators/<name>; its subwords are trained as a model's are (vocabulary.smk).
from psp.config.blocks.translator import BEFORE
from psp.config.blocks.translator import FILES as TRANSLATOR_FILES
from psp.config.blocks.translator import JOB as TRANSLATOR_JOB


def translator_setting(key):
    """Return a function for a setting of a translator's training."""
    return lambda w: CONFIG.translator(w.model.removeprefix(f"{FOLDER}/")).train[key]


def translator_settings(w):
    """Return what a translator depends on, besides its files and seed."""
    train = CONFIG.translator(w.model.removeprefix(f"{FOLDER}/")).train
    return {key: value for key, value in train.items() if key not in (*BEFORE, *TRANSLATOR_JOB)}


# Holds nothing out: the next rule does so by corpus.
use rule mix as mix_translator with:
    output:
        pairs=scratch("results/{model}/pairs/mix.tsv"),
        heldout=temp("results/{model}/pairs/none.tsv"),
        report="results/{model}/pairs/mix.json",
    wildcard_constraints:
        model=TRANSLATORS,


# Hold pairs out by sentence.
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
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(120),
    params:
        corpora=of_parts("corpus"),
        sets=translator_setting("heldout"),
        development=translator_setting("development"),
        version=VERSION["translator_heldout"],
    message:
        "Holding pairs out of {wildcards.model}"
    script:
        "../workflow_scripts/translator_heldout.py"


rule translator:
    input:
        pairs="results/{model}/pairs/train.tsv",
        heldout="results/{model}/pairs/heldout.tsv",
        sentencepiece=lambda w: translator_setting("sentencepiece")(w) or f"results/{w.model}/sentencepiece.model",
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
    threads: translator_setting("threads")
    resources:
        mem_mb=mem_mb(3000),
        runtime=runtime(2880),
    params:
        settings=translator_settings,
        languages=attribute("languages"),
        corpora=of_parts("corpus"),
        seed=attribute("seed"),
        # Not compared: they do not affect the translator, or cannot be known.
        job=lambda w, input: {key: translator_setting(key)(w) for key in TRANSLATOR_JOB},
        # Not the rule's threads, which Snakemake limits to --cores.
        threads=lambda w, input: translator_setting("threads")(w),
        version=VERSION["translator"],
    message:
        "Training {wildcards.model}"
    script:
        "../workflow_scripts/translator.py"
