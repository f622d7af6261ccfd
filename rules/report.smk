# A page about a model's quality, a page that compares several models, and a table of all scores.
from importlib import resources

from psp.config.blocks.report import PARTS
from psp.config.resolved import as_yaml
from psp.core.files import sha256


def pages_files(w):
    """Return the files of a model's page: those that every model has, those in the config, those made before or in this run."""
    entry, folder = model(w), f"results/{w.model}"
    of_tasks = [f"tasks/{name}.json" for name in entry["evaluate"]["tasks"]]
    parts = {**{part: [file] for part, file in PARTS.items()}, "tasks": of_tasks}
    made = ["eval.json", "examples.json"]
    if entry.of.block:
        made += ["data.json", "train/train.json", "train/metrics.csv"]
    made += [file for part in entry["report"]["include"] for file in parts[part]]
    others = [file for files in parts.values() for file in files]
    others += [f"systems/{name}/{file}" for name in system_names(w) for file in of_tasks]
    paths = [f"{folder}/{file}" for file in others]
    # What the same command asks for is waited for, so that the page does not depend on which job is first.
    there = [path for path in paths if path in sys.argv or Path(path).exists()]
    return list(dict.fromkeys([*(f"{folder}/{file}" for file in made), *there]))


def templates(w):
    """Return the checksums of the files, other than code, that pages are made from."""
    folder = Path(str(resources.files("psp.report"))) / "templates"
    return {path.name: sha256(path) for path in sorted(folder.iterdir())}


rule report:
    input:
        results=pages_files,
        model=trained,
        # From which the page shows pairs; of text it shows none.
        store=lambda w: f"results/{w.model}/store.h5" if model(w).of.stores else [],
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
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(10),
    params:
        config=lambda w: as_yaml(CONFIG, w.model),
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


def evaluated_models(w):
    """Return the scores of the config's models that have been evaluated."""
    files = [f"results/{name}/eval.json" for name in CONFIG.models]
    return [file for file in files if Path(file).exists()]


# All scores in one table for other programs.
rule summary:
    input:
        evaluated_models,
    output:
        "results/summary.csv",
    log:
        "results/logs/summary.log",
    benchmark:
        "results/benchmarks/summary.tsv"
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(10),
    params:
        version=VERSION["summary"],
    message:
        "Collecting the scores of all models"
    script:
        "../workflow_scripts/summary.py"
