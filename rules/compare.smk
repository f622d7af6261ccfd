# The model beside untrained baselines.
rule compare:
    input:
        unpack(test_sets),
        model=trained,
        store="results/{model}/store.h5",
    output:
        "results/{model}/compare.json",
    log:
        "results/{model}/logs/compare.log",
    benchmark:
        "results/{model}/benchmarks/compare.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(4000),
        runtime=runtime(60),
    params:
        languages=attribute("languages"),
        tatoeba=lambda wildcards: {
            language: [download(file) for file in pair]
            for language, pair in CONFIG.tatoeba(model(wildcards)).items()
        },
        settings=fixed_tests,
        seed=attribute("seed"),
        code=fingerprint(
            "psp.evaluation.compare", "psp.config.jobs", "psp.models.static"
        ),
    message:
        "Comparing {wildcards.model} with untrained baselines"
    script:
        "../workflow_scripts/compare.py"
