# Join separately trained models into one. A combination has its parts' tokenizers as files, so each has its own
# rule.
for _name in JOINED:

    rule:
        name:
            f"combine_{_name}"
        input:
            models=[
                file
                for part, _ in CONFIG.model(_name).combined
                for file in files_in(f"results/{part}/model", CONFIG.model(part))
            ],
        output:
            files_in(f"results/{_name}/model", CONFIG.model(_name)),
        log:
            f"results/{_name}/logs/combine.log",
        benchmark:
            f"results/{_name}/benchmarks/combine.tsv"
        threads: 1
        resources:
            mem_mb=mem_mb(2000),
            runtime=runtime(10),
        params:
            parts=[part for part, _ in CONFIG.model(_name).combined],
            weights=[weight for _, weight in CONFIG.model(_name).combined],
            version=VERSION["combine"],
        message:
            f"Joining the models of {_name}"
        script:
            "../workflow_scripts/combine.py"
