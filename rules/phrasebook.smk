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
    threads: 1
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
