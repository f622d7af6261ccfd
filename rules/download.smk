# Every file from outside comes through this one rule: corpora, the language identification model, evaluation sets.
def made_here(wildcards):
    """A mirror under results/ is a file that the workflow itself makes: then it is the download's input."""
    try:
        mirrors = CONFIG.remote(wildcards.name).mirrors
    except PspError as error:
        raise WorkflowError(failures.tell(error))
    return [mirror for mirror in mirrors if mirror.startswith("results/")][:1]


# No params: a new mirror or a change in the downloader must not fetch gigabytes again. What is pinned is checked when
# it is fetched; `psp pin --check` checks what is here. update(): a file put there by hand is taken, not removed.
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
        name=r"(opus|paranmt|lid|sts|tatoeba)/.+(?<!\.json)",
    localrule: True
    threads: 1
    resources:
        mem_mb=mem_mb(300),
        runtime=runtime(240),
    message:
        "Fetching {wildcards.name}"
    script:
        "../workflow_scripts/download.py"
