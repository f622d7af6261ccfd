# Training, chosen on development data; model/ is what people load.
def development(wildcards):
    """The files behind the development score: an STS set, and the slice held out of the training corpora."""
    entry = downloads(model(wildcards))
    wanted, files = entry["development"], {}
    if archive := CONFIG.sts_development(entry):
        files["archive"] = download(archive)
    elif wanted["sts"]:
        files["sts"] = wanted["sts"]
    if wanted["heldout"]:
        files["heldout"] = f"results/{wildcards.model}/pairs/heldout.tsv"
    return files


def init_from(wildcards):
    folder = model(wildcards)["train"]["init_from"]
    return (
        [
            f"{folder}/{file}"
            for file in ("config.json", "model.safetensors", "sentencepiece.model")
        ]
        if folder
        else []
    )


def tuned(wildcards):
    """The search whose winner is trained, where the model wants that."""
    wanted = model(wildcards)["train"]["tune"]
    return [f"results/{wildcards.model}/tune.json"] if wanted else []


def shaping(wildcards):
    """The train block without what changes no model: metrics may come more often."""
    others = ("threads", "processes", "gpus", "log_every", "checkpoint", "tune")
    return {
        key: value
        for key, value in model(wildcards)["train"].items()
        if key not in others
    }


rule train:
    input:
        unpack(development),
        tune=tuned,
        store="results/{model}/store.h5",
        sentencepiece="results/{model}/sentencepiece.model",
        init_from=init_from,
    output:
        weights="results/{model}/model/model.safetensors",
        sentencepiece="results/{model}/model/sentencepiece.model",
        config="results/{model}/model/config.json",
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    log:
        "results/{model}/logs/train.log",
    benchmark:
        "results/{model}/benchmarks/train.tsv"
    threads: train_threads
    resources:
        mem_mb=mem_mb(train_mb),
        gpu=setting("train", "gpus"),
        nodes=1,  # the processes of a training meet on one machine
        runtime=runtime(2880),
    params:
        # What the search decides comes from tune.json: its value in the config is not used.
        train=lambda wildcards: {
            key: value
            for key, value in shaping(wildcards).items()
            if key not in model(wildcards).tuned
        },
        development=setting("development"),
        languages=attribute("languages"),
        lower_case=setting("filters", "lower_case"),
        segment=setting("segment"),
        recipe=attribute("recipe"),
        seed=attribute("seed"),
        code=fingerprint("psp.jobs", "psp.training.configured"),
        log_every=uncompared("train", "log_every"),
        checkpoint=uncompared("train", "checkpoint"),
        processes=uncompared("train", "processes"),
        gpus=uncompared("train", "gpus"),
        # Not the rule's, of which Snakemake gives no more than --cores: their number can change the last bits of a model.
        threads=lambda wildcards, input: train_threads(wildcards),
        warn_pairs=uncompared("mix", "warn_pairs"),
    message:
        "Training {wildcards.model}"
    script:
        "../workflow_scripts/train.py"
