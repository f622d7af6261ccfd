# Measure the embedding speed of the model and other systems, on its training pairs (a combination: its first part's).


def own_sentences(w):
    """Return the file of sentences, if the config names one."""
    wanted = model(w)["speed"]["sentences"]
    return wanted if isinstance(wanted, str) else []


rule speed:
    input:
        model=trained,
        store=lambda w: stored(w) or of_joined("store.h5")(w)[0],
        sentences=own_sentences,
    output:
        json="results/{model}/speed.json",
        chart="results/{model}/speed.png",
    log:
        "results/{model}/logs/speed.log",
    benchmark:
        "results/{model}/benchmarks/speed.tsv"
    threads: lambda w: workflow.cores or 1  # nothing may run at the same time as a measurement
    resources:
        mem_mb=mem_mb(8000),
        runtime=runtime(60),
    params:
        settings=setting("speed"),
        version=VERSION["speed"],
    message:
        "Measuring the speed of {wildcards.model} and other systems"
    script:
        "../workflow_scripts/speed.py"
