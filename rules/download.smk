# Download files: corpora, the language identification model, evaluation sets, word vectors; and generate the demo's.


def made_here(w):
    """Return a mirror under results/ as input: such a file is made by the workflow itself."""
    mirrors = CONFIG.remote(w.name).mirrors
    return [mirror for mirror in mirrors if mirror.startswith("results/")][:1]


# No params: a new mirror or a change in the downloader must not download gigabytes again. Pins are verified on
# download; `psp pin --check` verifies existing files. update(): keep a file put there by hand.
rule download:
    input:
        made_here,
    output:
        file=update(f"{DOWNLOADS}/{{name}}"),
        record=f"{DOWNLOADS}/{{name}}.json",
    log:
        f"{DOWNLOADS}/logs/{{name}}.log",
    benchmark:
        f"{DOWNLOADS}/benchmarks/{{name}}.tsv"
    wildcard_constraints:
        name=r"(opus|paranmt|lid|sts|tatoeba|vectors)/.+(?<!\.json)",
    localrule: True
    resources:
        mem_mb=mem_mb(300),
        runtime=runtime(240),
    message:
        "Downloading {wildcards.name}"
    script:
        "../workflow_scripts/download.py"


# Generate the demo's English and French text, as an OPUS mirror and evaluation sets (config/demo.yaml).
rule phrasebook:
    output:
        "results/phrasebook/opus/Phrasebook/v1/moses/en-fr.txt.zip",
        "results/phrasebook/opus/PhrasebookExtra/v1/moses/en-fr.txt.zip",
        "results/phrasebook/tatoeba/v1/tatoeba.fra-eng.fra",
        "results/phrasebook/tatoeba/v1/tatoeba.fra-eng.eng",
        "results/phrasebook/sts/phrasebook-dev.tsv",
        "results/phrasebook/sts/phrasebook-test.tsv",
        truth="results/phrasebook/truth.json",
    log:
        "results/phrasebook/logs/phrasebook.log",
    benchmark:
        "results/phrasebook/benchmarks/phrasebook.tsv"
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        settings=CONFIG.phrasebook,
        version=VERSION["phrasebook"],
    message:
        "Generating {params.settings[pairs]} phrasebook pairs"
    script:
        "../workflow_scripts/phrasebook.py"
