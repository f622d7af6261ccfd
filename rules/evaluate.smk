# What the model is worth: test sets, the systems that need no training beside it, smaller tables, and its speed.
def test_sets(wildcards):
    entry = downloads(model(wildcards))
    files = {}
    if archive := CONFIG.sts_tests(entry):
        files["sts"] = download(archive)
    files["tatoeba"] = [
        download(file) for pair in CONFIG.tatoeba(entry).values() for file in pair
    ]
    files["files"] = list(entry["evaluate"]["files"].values())
    return files


def trained(wildcards):
    return [
        f"{home(wildcards)}/model/{file}"
        for file in ("config.json", "model.safetensors", "sentencepiece.model")
    ]


def unpinned(wildcards):
    return [
        name for name in CONFIG.downloads(model(wildcards)) if name not in CONFIG.pins
    ]


rule evaluate:
    input:
        unpack(test_sets),
        model=trained,
        train=lambda wildcards: f"{home(wildcards)}/train/train.json",
        subword="results/{model}/sentencepiece.json",
        mix="results/{model}/pairs/mix.json",
        near=near_duplicates,
        filter=lambda wildcards: [
            f"results/{wildcards.model}/pairs/filter/{part.label}.json"
            for part in model(wildcards).parts
        ],
        dedupe=lambda wildcards: [
            f"results/{wildcards.model}/pairs/dedupe/{part.label}.json"
            for part in model(wildcards).parts
        ],
    output:
        "results/{model}/eval.json",
    log:
        "results/{model}/logs/evaluate.log",
    benchmark:
        "results/{model}/benchmarks/evaluate.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(60),
    params:
        languages=attribute("languages"),
        tatoeba=lambda wildcards: {
            language: [download(file) for file in pair]
            for language, pair in CONFIG.tatoeba(model(wildcards)).items()
        },
        settings=setting("evaluate"),
        recipe=attribute("recipe"),
        differences=attribute("differences"),
        tuned=attribute("tuned"),
        decontaminate=setting("filters", "decontaminate"),
        seed=attribute("seed"),
        unpinned=unpinned,
        code=fingerprint(
            "psp.evaluation.run",
            "psp.filters.decontaminate",
            "psp.jobs",
            "psp.model",
            "psp.training.tune",
        ),
    message:
        "Evaluating {wildcards.model}"
    script:
        "../workflow_scripts/evaluate.py"


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
        settings=setting("evaluate"),
        seed=attribute("seed"),
        code=fingerprint("psp.evaluation.baselines", "psp.jobs", "psp.model"),
    message:
        "Comparing {wildcards.model} with systems that need no training"
    script:
        "../workflow_scripts/compare.py"


rule quantize:
    input:
        unpack(test_sets),
        model=trained,
    output:
        "results/{model}/quantized.json",
    log:
        "results/{model}/logs/quantize.log",
    benchmark:
        "results/{model}/benchmarks/quantize.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(60),
    params:
        languages=attribute("languages"),
        tatoeba=lambda wildcards: {
            language: [download(file) for file in pair]
            for language, pair in CONFIG.tatoeba(model(wildcards)).items()
        },
        tables=setting("quantize"),
        settings=setting("evaluate"),
        seed=attribute("seed"),
        code=fingerprint("psp.evaluation.quantized", "psp.jobs", "psp.model"),
    message:
        "Evaluating {wildcards.model} with smaller tables"
    script:
        "../workflow_scripts/quantize.py"


rule speed:
    input:
        model=trained,
        store="results/{model}/store.h5",
    output:
        json="results/{model}/speed.json",
        chart="results/{model}/speed.png",
    log:
        "results/{model}/logs/speed.log",
    benchmark:
        "results/{model}/benchmarks/speed.tsv"
    threads: lambda wildcards: workflow.cores or 1  # nothing may run beside a measurement
    resources:
        mem_mb=mem_mb(8000),
        runtime=runtime(60),
    params:
        settings=setting("speed"),
        code=fingerprint("psp.speed.run", "psp.speed.chart", "psp.speed.worker"),
    message:
        "Measuring the speed of {wildcards.model} and its peers"
    script:
        "../workflow_scripts/speed.py"
