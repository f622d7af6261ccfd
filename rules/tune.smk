# Grid search over training settings: a short training run for each point, and the choice of the best.
def tuning(wildcards):
    """Return a job's search; report a wrong one in one line."""
    try:
        return CONFIG.tuning(wildcards.model)
    except PspError as error:
        raise WorkflowError(failures.tell(error))


def point_settings(wildcards):
    """Return the training settings of a grid point; report a point that is not in the grid in one line."""
    try:
        return tuning(wildcards).settings(shaping(wildcards), wildcards.point)
    except PspError as error:
        raise WorkflowError(failures.tell(error))


def point_mb(wildcards, input):
    """Estimate a point's memory, as for training; the search may include the dimension."""
    return plan.train_mb(
        model(wildcards).most_rows,
        point_settings(wildcards)["dim"],
        launch.count(model(wildcards)["train"]),
    )


rule tune_point:
    input:
        unpack(development),
        store="results/{model}/store.h5",
        vocabulary=vocabulary,
        init_from=init_from,
        init_vectors=init_vectors,
        teacher=taught,
    output:
        metrics="results/{model}/tune/{point}/metrics.csv",
        report="results/{model}/tune/{point}/train.json",
    log:
        "results/{model}/logs/tune/{point}.log",
    benchmark:
        "results/{model}/benchmarks/tune/{point}.tsv"
    wildcard_constraints:
        point=r"[^/]+",
    threads: train_threads
    resources:
        mem_mb=mem_mb(point_mb),
        gpu=setting("train", "gpus"),
        nodes=1,  # all processes of a training job run on one machine
        runtime=runtime(720),
    params:
        train=point_settings,
        development=setting("development"),
        languages=attribute("languages"),
        lower_case=setting("filters", "lower_case"),
        segment=setting("segment"),
        teaching=setting("teacher"),
        recipe=attribute("recipe"),
        seed=attribute("seed"),
        code=fingerprint(
            "psp.config.jobs", "psp.training.configured", "psp.training.objectives.*"
        ),
        # Snakemake does not compare params that depend on `input`, so a new point in the grid, or more rows in
        # metrics.csv, do not retrain existing points.
        tuning=lambda wildcards, input: tuning(wildcards),
        log_every=uncompared("train", "log_every"),
        checkpoint=uncompared("train", "checkpoint"),
        processes=uncompared("train", "processes"),
        gpus=uncompared("train", "gpus"),
        # Not the rule's threads, which Snakemake limits to --cores: their number can change the last bits of a model.
        threads=lambda wildcards, input: train_threads(wildcards),
        warn_pairs=0,  # the model's own training run warns
    message:
        "Tuning {wildcards.model}: {wildcards.point}"
    script:
        "../workflow_scripts/tune_point.py"


rule tune:
    input:
        lambda wildcards: [
            f"results/{wildcards.model}/tune/{point}/train.json"
            for point in tuning(wildcards).points
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
        code=fingerprint("psp.training.tune"),
    message:
        "Choosing the settings of {wildcards.model}"
    script:
        "../workflow_scripts/tune.py"
