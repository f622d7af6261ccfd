# A page about a model's quality, and a page that compares several models.
def made_of(wildcards):
    """Return the files of a model's page: those that every model has, those in the config, and those made before."""
    entry, folder = model(wildcards), f"results/{wildcards.model}"
    tasks = [f"tasks/{task}.json" for task in entry["evaluate"]["tasks"]]
    of_parts = {**{part: [file] for part, file in PARTS.items()}, "tasks": tasks}
    made = ["eval.json", "examples.json"]
    if entry.of.block:
        made += ["data.json", "train/train.json", "train/metrics.csv"]
    made += [file for part in entry["report"]["include"] for file in of_parts[part]]
    others = [file for files in of_parts.values() for file in files]
    others += [
        f"systems/{name}/{task}" for name in compared(wildcards) for task in tasks
    ]
    there = [file for file in others if Path(folder, file).exists()]
    return [f"{folder}/{file}" for file in dict.fromkeys([*made, *there])]


def templates(wildcards):
    """Return the checksums of the files, other than code, that pages are made from."""
    folder = Path(str(resources.files("psp.report"))) / "templates"
    return {path.name: sha256(path) for path in sorted(folder.iterdir())}


rule report:
    input:
        results=made_of,
        model=trained,
        # From which the page shows pairs; of text it shows none.
        store=branch(
            lambda wildcards: model(wildcards).of.stores,
            then="results/{model}/store.h5",
        ),
    output:
        report(
            "results/{model}/report.html",
            category="{model}",
            labels={"page": "report"},
        ),
    log:
        "results/{model}/logs/report.log",
    benchmark:
        "results/{model}/benchmarks/report.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(10),
    params:
        config=lambda wildcards: as_yaml(CONFIG, wildcards.model),
        templates=templates,
        version=VERSION["report"],
    message:
        "Writing the page of {wildcards.model}"
    script:
        "../workflow_scripts/report.py"


rule report_several:
    input:
        pages=[f"results/{name}/report.html" for name in CONFIG.reported],
    output:
        report("results/report.html", category="models", labels={"page": "report"}),
    log:
        "results/logs/report.log",
    benchmark:
        "results/benchmarks/report.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(10),
    params:
        models=CONFIG.reported,
        templates=templates,
        version=VERSION["report_several"],
    message:
        "Writing the page of several models"
    script:
        "../workflow_scripts/report_several.py"
