# The only rule that downloads files: corpora, the language identification model, evaluation sets, word vectors.
def made_here(wildcards):
    """Return a mirror under results/ as input: such a file is made by the workflow itself."""
    mirrors = CONFIG.remote(wildcards.name).mirrors
    return [mirror for mirror in mirrors if mirror.startswith("results/")][:1]


# No params: a new mirror or a change in the downloader must not download gigabytes again. Pins are verified on
# download; `psp pin --check` verifies existing files. update(): keep a file put there by hand.
rule download:
    input:
        made_here,
    output:
        file=update(DOWNLOADS + "/{name}"),
        record=DOWNLOADS + "/{name}.json",
    log:
        DOWNLOADS + "/logs/{name}.log",
    benchmark:
        DOWNLOADS + "/benchmarks/{name}.tsv"
    wildcard_constraints:
        name=r"(opus|paranmt|lid|sts|tatoeba|vectors)/.+(?<!\.json)",
    localrule: True
    threads: 1
    resources:
        mem_mb=mem_mb(300),
        runtime=runtime(240),
    message:
        "Downloading {wildcards.name}"
    script:
        "../workflow_scripts/download.py"
