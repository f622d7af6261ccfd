# psp: from raw parallel text to an evaluated sentence-embedding model.
#
#   snakemake --cores 32 results/fr/eval.json      one model of config/config.yaml
#   snakemake --cores 2 --configfile config/demo.yaml -- results/demo/eval.json


configfile: f"{workflow.basedir}/config/config.yaml"


include: "rules/common.smk"
include: "rules/inputs.smk"


# The stages, one rule file each, in the order of the data (docs/architecture.md draws their road). For a translator,
# translator_heldout, subword and translator follow mix.
STAGES = """
    phrasebook download filter pivot backtranslate rank dedupe mix neardup
    subword translator vocabulary store data stats development_pairs teach piece_vectors
    train curve
    evaluate combine examples task system compare quantize speed lexicon card release variants report summary
"""
for _stage in STAGES.split():

    include: f"rules/{_stage}.smk"


failures.outputs += [str(file) for rule in workflow.rules for file in rule.output]


onstart:
    check_config_files()


onsuccess:
    say_warnings()


rule all:
    default_target: True
    input:
        [
            f"results/{name}/{file}"
            for name in CONFIG.models
            for file in ("eval.json", "data.json", "card.md")
            if file != "data.json" or name not in JOINED
        ],
        # Named, so that a removed one is noticed.
        [
            file
            for name in CONFIG.models
            for file in files_in(f"results/{name}/model", CONFIG.model(name))
        ],
