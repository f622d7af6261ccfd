# Evaluate quantized and shortened versions of the model.
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
        **OF_TESTS,
        tables=setting("quantize"),
        version=VERSION["quantize"],
    message:
        "Evaluating quantized versions of {wildcards.model}"
    script:
        "../workflow_scripts/quantize.py"
