# psp: from raw parallel text to an evaluated sentence-embedding model.
#
#   snakemake --cores 32 results/fr/eval.json      one model of config/config.yaml
#   snakemake --cores 2 --configfile config/demo.yaml -- results/demo/eval.json
#
# `snakemake --lint` asks for a conda environment of each rule: environment.yml has what all need. It asks for functions in
# common.smk: those of one rule stand beside it.
import atexit

from psp.config import made_with


configfile: f"{workflow.basedir}/config/config.yaml"


include: "rules/common.smk"
# In the order of the data (docs/architecture.md draws their road).
include: "rules/download.smk"
include: "rules/filter.smk"
include: "rules/paraphrase.smk"
include: "rules/mix.smk"
include: "rules/vocabulary.smk"
include: "rules/translate.smk"
include: "rules/store.smk"
include: "rules/train.smk"
include: "rules/evaluate.smk"
include: "rules/compare.smk"
include: "rules/variants.smk"
include: "rules/speed.smk"
include: "rules/lexicon.smk"
include: "rules/report.smk"
include: "rules/release.smk"


failures.outputs += [str(file) for rule in workflow.rules for file in rule.output]


def warn_of_config_files():
    """Return the models that this run makes, by Snakemake's graph of jobs; warn of those that other files made."""
    jobs = workflow.dag.needrun_jobs(exclude_finished=False)
    pattern = rf"results/{one_of(CONFIG.models)}/model/config\.json"
    files = [Path(file) for job in jobs for file in job.output if re.fullmatch(pattern, file)]
    finished = [file.parts[1] for file in files if file.exists()]
    if warning := made_with.warning(finished, config_files()):
        print(f"warning: {warning}", file=sys.stderr)
    return {file.parts[1] for file in files}


def after_a_dry_run():
    """Warn there, too; Snakemake has no hook for it."""
    if workflow.dryrun and workflow._dag is not None:
        warn_of_config_files()


if workflow.is_main_process:
    atexit.register(after_a_dry_run)


onstart:
    run.own()
    made = warn_of_config_files()
    if not workflow.touch:
        for name in made:
            made_with.note(f"results/{name}", config_files())


onsuccess:
    for warning in targets.data_warnings(CONFIG, sys.argv[1:]):
        logger.warning(f"warning: {warning}")


rule all:
    default_target: True
    input:
        [f"results/{name}/eval.json" for name in CONFIG.models],
        [f"results/{name}/card.md" for name in CONFIG.models],
        # A combination of models has no data of its own.
        [f"results/{name}/data.json" for name in CONFIG.models if CONFIG.model(name).of.block],
        # Named, so that a removed one is noticed.
        [file for name in CONFIG.models for file in files_in(f"results/{name}/model", CONFIG.model(name))],
