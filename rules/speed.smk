# Measure the embedding speed of the model and other systems, on its training pairs (a combination: its first part's).
rule speed:
    input:
        model=trained,
        store=lambda wildcards: stored(wildcards) or of_joined("store.h5")(wildcards)[0],
        # The file of sentences, if the config names one.
        sentences=lambda wildcards: [
            one
            for one in [model(wildcards)["speed"]["sentences"]]
            if isinstance(one, str)
        ],
    output:
        json="results/{model}/speed.json",
        chart="results/{model}/speed.png",
    log:
        "results/{model}/logs/speed.log",
    benchmark:
        "results/{model}/benchmarks/speed.tsv"
    threads: lambda wildcards: workflow.cores or 1  # nothing may run at the same time as a measurement
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
