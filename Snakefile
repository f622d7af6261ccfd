# psp: from raw parallel text to an evaluated sentence-embedding model.
#
#   snakemake --cores 32 results/fr/eval.json      one model of config/config.yaml
#   snakemake --cores 2 --configfile config/demo.yaml -- results/demo/eval.json
#
# The stages, one rule file each:
#   download (-> inspect) (-> pivot -> publish, or backtranslate) -> filter (-> rank) -> dedupe -> mix (-> neardup) ->
#   subword or vocabulary -> store (-> teach) (-> tune) -> train -> (combine ->) evaluate, examples, task, system, compare, quantize,
#   variants, speed, curve; deciles, by_corpus; stats; lexicon; data; card, report, release
# and those of a translator: filter (-> rank) -> dedupe -> mix -> translator_heldout -> subword -> translator


configfile: "config/config.yaml"


include: "rules/common.smk"
include: "rules/inputs.smk"
include: "rules/phrasebook.smk"
include: "rules/download.smk"
include: "rules/inspect.smk"
include: "rules/filter.smk"
include: "rules/pivot.smk"
include: "rules/backtranslate.smk"
include: "rules/publish.smk"
include: "rules/rank.smk"
include: "rules/dedupe.smk"
include: "rules/mix.smk"
include: "rules/neardup.smk"
include: "rules/subword.smk"
include: "rules/translator.smk"
include: "rules/vocabulary.smk"
include: "rules/store.smk"
include: "rules/data.smk"
include: "rules/stats.smk"
include: "rules/development_pairs.smk"
include: "rules/teach.smk"
include: "rules/piece_vectors.smk"
include: "rules/train.smk"
include: "rules/curve.smk"
include: "rules/tune.smk"
include: "rules/sample.smk"
include: "rules/deciles.smk"
include: "rules/by_corpus.smk"
include: "rules/evaluate.smk"
include: "rules/combine.smk"
include: "rules/examples.smk"
include: "rules/task.smk"
include: "rules/system.smk"
include: "rules/compare.smk"
include: "rules/quantize.smk"
include: "rules/speed.smk"
include: "rules/lexicon.smk"
include: "rules/card.smk"
include: "rules/release.smk"
include: "rules/variants.smk"
include: "rules/report.smk"
include: "rules/summary.smk"


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
