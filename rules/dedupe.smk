# Remove a corpus's duplicates, shuffle its pairs and cut it to its cap.
def filtered(wildcards):
    """Return a corpus's pairs after the filters, and after ranking if it is ranked."""
    stage = "rank" if part_of(wildcards).ranked else "filter"
    return f"results/{wildcards.model}/pairs/{stage}/{wildcards.part}.tsv"


for _of in stage_rules("dedupe"):

    rule:
        name:
            _of.name
        input:
            lambda wildcards: [filtered(one) for one in each(wildcards).values()],
        output:
            pairs=[
                scratch(f"results/{{model}}/pairs/dedupe/{label}.tsv")
                for label in _of.labels
            ],
            report=[
                f"results/{{model}}/pairs/dedupe/{label}.json" for label in _of.labels
            ],
        log:
            f"results/{{model}}/logs/{_of.log}.log",
        benchmark:
            f"results/{{model}}/benchmarks/{_of.log}.tsv"
        wildcard_constraints:
            model=_of.models,
        threads: _of.at_once
        resources:
            mem_mb=mem_mb(1000 * min(_of.at_once, 2)),
            runtime=runtime(60, rates.DEDUPE_RATE),
        params:
            caps=lambda wildcards: [
                [part_of(one).corpus, part_of(one).cap]
                for one in each(wildcards).values()
            ],
            shards=setting("mix", "buckets"),
            seed=attribute("seed"),
            code=fingerprint("psp.pairs.dedupe"),
        message:
            f"Removing duplicates of {_of.what} for {{wildcards.model}}"
        script:
            "../workflow_scripts/dedupe.py"
