# Grid search over training settings: a short training run for each point, and the choice of the best.
def point_settings(wildcards):
    """Return the training settings of a grid point."""
    train = parameters(model(wildcards))["train"]
    return CONFIG.tuning(wildcards.model).settings(train, wildcards.point)


def point_mb(wildcards, input):
    """Estimate a point's memory, as for training; the search may include the dimension."""
    rows, dim = model(wildcards).most_rows, point_settings(wildcards)["dim"]
    return train_megabytes(rows, dim)


rule tune_point:
    input:
        unpack(to_train),
    output:
        metrics="results/{model}/tune/{point}/metrics.csv",
        report="results/{model}/tune/{point}/train.json",
    log:
        "results/{model}/logs/tune/{point}.log",
    benchmark:
        "results/{model}/benchmarks/tune/{point}.tsv"
    threads: lambda wildcards: model(wildcards).of.threads(model(wildcards))
    resources:
        mem_mb=mem_mb(point_mb),
        gpu=lambda wildcards: gpus(model(wildcards)["train"]),
        runtime=runtime(720),
    params:
        training=lambda wildcards: {
            **parameters(model(wildcards)),
            "train": point_settings(wildcards),
        },
        seed=attribute("seed"),
        # Not compared: a new point in the grid, or more rows in metrics.csv, do not retrain existing points. The
        # model's own training warns about few pairs.
        tuning=lambda wildcards, input: CONFIG.tuning(wildcards.model),
        job=lambda wildcards, input: quiet(model(wildcards)),
        version=VERSION["train"],
    message:
        "Tuning {wildcards.model}: {wildcards.point}"
    script:
        "../workflow_scripts/tune_point.py"


rule tune:
    input:
        lambda wildcards: [
            f"results/{wildcards.model}/tune/{point}/train.json"
            for point in CONFIG.tuning(wildcards.model).points
        ],
    output:
        "results/{model}/tune.json",
    log:
        "results/{model}/logs/tune.log",
    benchmark:
        "results/{model}/benchmarks/tune.tsv"
    threads: 1
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        tune=setting("tune"),
        version=VERSION["train"],
    message:
        "Choosing the settings of {wildcards.model}"
    script:
        "../workflow_scripts/tune.py"
