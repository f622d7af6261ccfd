# psp: from raw parallel text to an evaluated sentence-embedding model.
#
#   snakemake --cores 32 results/fr/eval.json      one model of config/config.yaml
#   snakemake --cores 2 --configfile config/demo.yaml -- results/demo/eval.json
#
# The road that data takes, a rule file a stage:
#   download -> filter -> dedupe -> mix -> subword -> store -> (tune ->) train -> evaluate, compare, variants, speed; data


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/phrasebook.smk"
include: "rules/download.smk"
include: "rules/pairs.smk"
include: "rules/subword.smk"
include: "rules/store.smk"
include: "rules/data.smk"
include: "rules/train.smk"
include: "rules/curve.smk"
include: "rules/tune.smk"
include: "rules/evaluate.smk"
include: "rules/variants.smk"


onsuccess:
    say_warnings()


rule all:
    default_target: True
    input:
        [
            f"results/{name}/{file}.json"
            for name in CONFIG.models
            for file in ("eval", "data")
        ],
