# Inspect a model's corpora before training.
def sets_of(wildcards):
    """Return all sets on which the model is scored, including those for choosing it."""
    return {**evaluated(wildcards), **chosen_by(wildcards)}


def similarity_encoders(wildcards):
    """Return the files of the encoders: that of the block `inspect`, and those of filters outside results/."""
    entry = model(wildcards)
    named = [entry["inspect"]["encoder"]]
    for part in entry.files:
        wanted = part.filters["similarity"]
        if wanted["enabled"] and not wanted["encoder"].startswith("results/"):
            named.append(wanted["encoder"])
    return sorted({file for name in named for file in files_of(name)})


rule inspect:
    input:
        corpora=lambda wildcards: list(map(own_file, downloads(model(wildcards)).files)),
        beside=lambda wildcards: [
            file for part in model(wildcards).files for file in part.beside
        ],
        tests=lambda wildcards: evaluated_files(wildcards, sets_of(wildcards)),
        lid=download(CONFIG.lid()),
        encoder=similarity_encoders,
    output:
        json="results/{model}/inspect.json",
        html=report(
            "results/{model}/inspect.html",
            category="{model}",
            labels={"page": "corpora"},
        ),
    log:
        "results/{model}/logs/inspect.log",
    benchmark:
        "results/{model}/benchmarks/inspect.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(1500),
        runtime=runtime(120),
    params:
        parts=lambda wildcards: [
            {
                **about(part, "label", "opus", "kind", "languages", "names"),
                "filters": dict(part.filters),
            }
            for part in model(wildcards).files
        ],
        tests=sets_of,
        custom=lambda wildcards: {
            part.label: own_filters(part) for part in model(wildcards).files
        },
        segment=setting("segment"),
        languages=attribute("languages"),
        settings=setting("inspect"),
        warn_pairs=setting("mix", "warn_pairs"),
        seed=attribute("seed"),
        templates=lambda wildcards: templates(wildcards),
        version=VERSION["inspect"],
    message:
        "Inspecting the corpora of {wildcards.model}"
    script:
        "../workflow_scripts/inspect.py"
