# Shared by all stages: config checks, paths, wildcard constraints. Errors of psp that functions of rules raise are
# reported in one line (psp/core/failures.py).
import atexit
import os
import re
import sys
from importlib import resources
from pathlib import Path

from psp.config import counts, made_with, rates, targets
from psp.config.blocks.filters import FiltersBlock
from psp.config.blocks.report import PARTS
from psp.config.blocks.teacher import OF_VECTORS
from psp.config.blocks.translator import BEFORE, FILES as TRANSLATOR_FILES
from psp.config.blocks.translator import JOB as TRANSLATOR_JOB
from psp.config.config import RESERVED, Config
from psp.config.config_file import look
from psp.config.resolved import as_yaml
from psp.config.targets import DOWNLOADS
from psp.config.training import train_mb as train_megabytes
from psp.config.translator_entries import FOLDER
from psp.core import failures, run
from psp.core.errors import ConfigError, PspError
from psp.core.files import sha256
from psp.core.versions import VERSION
from psp.evaluation import evaluate, judged, systems, tasks
from psp.models import CONFIG as CONFIG_JSON, SENTENCEPIECE, WEIGHTS
from psp.models.registry import SENTENCE_TRANSFORMERS, encoder_files
from psp.pairs import data_warnings
from psp.pairs.filters import custom
from psp.pairs.filters.language import needs_lid
from psp.text.normalisation import name_of as name_of_normalisation
from psp.text.sentencepiece_tokenizer import SentencepieceTokenizer
from snakemake.logging import logger


def config_files():
    """Return the config files of this run, in the order in which they are merged."""
    given = workflow.overwrite_configfiles
    return [*(file for file in workflow.configfiles if file not in given), *given]


try:
    if workflow.is_main_process:  # jobs load this file again
        for note in look(config_files()):
            logger.warning(f"note: {note}")
    CONFIG = Config(config)
    if workflow.is_main_process:
        for entry in targets.models(CONFIG, sys.argv[1:]):
            for notice in CONFIG.notices(entry):
                logger.warning(f"warning: {notice}")
    targets.check(CONFIG, sys.argv[1:])
except PspError as error:
    sys.exit(f"error: {error}")


# Jobs inherit this. Torch's threads otherwise spin while they wait for one another. A transformer's training step on two
# cores is 4 to 8% slower with it alone, 1.5 to 1.7 times faster beside one busy process, and 4 to 8 times faster on a
# machine with a load of eight.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")


# The run of a job, so that a job that starts late does not work for a killed run.
if workflow.is_main_process:
    os.environ[run.VARIABLE] = run.of_this_process()
    other, known = run.owner()
    if "--unlock" in sys.argv and other is not None and known:
        sys.exit(f"error: {failures.locked()}")
    run.own(certainly=False)


MODEL = rf"(?!({'|'.join(sorted(RESERVED))})/)[A-Za-z0-9][A-Za-z0-9._-]*"
# A rule's output files are the same for all models, but a model's files depend on its kind and on its tokenizer: these
# constraints say which rule makes a model.
_ENTRIES = [CONFIG.model(name) for name in CONFIG.models]
_COMBINED = [entry.name for entry in _ENTRIES if entry.of.joins]
#: Combinations of models that are trained apart.
JOINED = [entry.name for entry in _ENTRIES if entry.of.joins and not entry.of.stores]


def one_of(names):
    """Return an expression for these models; without any, for none."""
    return f"({'|'.join(map(re.escape, names))})" if names else "(?!)"


def none_of(names):
    """Return an expression for all other models."""
    return rf"(?!{one_of(names)}/){MODEL}" if names else MODEL


_OWN = [entry for entry in _ENTRIES if not entry.of.joins]
_OF_TEXT = [entry.name for entry in _OWN if not entry.of.stores]
FROM_STORE, FROM_TEXT = none_of(_OF_TEXT), one_of(_OF_TEXT)
WITH_VOCABULARY = one_of(
    [entry.name for entry in _OWN if entry.of.stores and entry.tokenizer.collected]
)
TRAINED, COMBINATIONS = none_of(_COMBINED), one_of(_COMBINED)
#: For each rule that trains, the files of its models, and their names. The most frequent one also accepts names that
#: the config lacks, for their error.
TRAINED_BY = {"train": ((CONFIG_JSON, SENTENCEPIECE, WEIGHTS), [])}
for _entry in _ENTRIES:
    if _entry.name not in JOINED:
        _files = tuple(_entry.of.files(_entry, CONFIG.model))
        _rule = _entry.of.rule(_entry)
        while TRAINED_BY.setdefault(_rule, (_files, []))[0] != _files:
            _rule += "_too"
        TRAINED_BY[_rule][1].append(_entry.name)
BY_TRAIN = none_of(
    [name for name in CONFIG.models if name not in TRAINED_BY["train"][1]]
)
VARIANT = "results/{model}/variants/{variant}/{seed}"
# A translator has the stages of a model in a folder of this name.
TRANSLATORS = rf"{FOLDER}/{one_of(CONFIG.trained_translators)}"
MODEL_OR_TRANSLATOR = f"(?:{MODEL}|{TRANSLATORS})"


wildcard_constraints:
    model=MODEL,
    part=r"[^/]+",
    bitext=r"[^/]+",
    set=r"[^/]+",
    variant=r"[A-Za-z0-9][A-Za-z0-9._+=-]*",
    seed=r"[0-9]+",
    task=r"[A-Za-z0-9][A-Za-z0-9._-]*",
    system=r"[A-Za-z0-9][A-Za-z0-9._+-]*",


def model(wildcards):
    """Return a job's resolved model, with a variant's settings."""
    if wildcards.model.startswith(f"{FOLDER}/"):
        return CONFIG.cleared_translator(name_of(wildcards)).data
    if variant := wildcards.get("variant"):
        return CONFIG.variant(wildcards.model, variant)
    return CONFIG.cleared(wildcards.model)


def name_of(wildcards):
    """Return the name of a job's translator."""
    return wildcards.model.removeprefix(f"{FOLDER}/")


def of_translator(key):
    """Return a param function for a setting of the translator's training."""
    return lambda wildcards: CONFIG.translator(name_of(wildcards)).train[key]


def setting(*keys):
    """Return a param function for a setting of the model, so that changing it reruns the rule."""

    def get(wildcards):
        value = model(wildcards).settings
        for key in keys:
            value = value[key]
        return value

    return get


#: The standard tasks' names.
DEFAULT_TASKS = [kind.kind for kind in tasks.of_every_model()]


def attribute(name):
    """Return a param function for the model's languages, seed or recipe."""
    return lambda wildcards: getattr(model(wildcards), name)


def part_of(wildcards):
    """Return the corpus of a job in results/<model>/pairs: the model's, or bitext that one is made from."""
    part = next(part for part in model(wildcards).parts if part.label == wildcards.part)
    if bitext := wildcards.get("bitext"):
        return next(source for source in part.sources if source.label == bitext)
    return part


def about(part, *names):
    """Return some of a corpus's attributes by their names."""
    return {name: getattr(part, name) for name in names}


def home(wildcards):
    """Return the folder of a training run: the model's, or that of a variant and seed."""
    pattern = VARIANT if wildcards.get("variant") else "results/{model}"
    return pattern.format(**wildcards)


def download(name):
    return f"{DOWNLOADS}/{name}"


def files_in(folder, entry):
    """Return the files of a model's folder by its entry in the config, config.json first."""
    return [f"{folder}/{name}" for name in entry.of.files(entry, CONFIG.model)]


def files_of(encoder):
    """Return the files of an encoder, if any, which may be one of this config's models, not trained yet."""
    if not encoder:
        return []
    match = re.fullmatch(r"results/([^/]+)/model/?", encoder)
    if match and match[1] in CONFIG.models:
        return files_in(encoder.rstrip("/"), CONFIG.model(match[1]))
    return encoder_files(encoder)


def downloads(model):
    """Return the model after checking that its own files, and if offline its downloads, exist."""
    targets.check_files(CONFIG, model)
    return model


def say_warnings():
    """Log warnings about the data of the requested models, by default all."""
    for entry in targets.models(CONFIG, sys.argv[1:]):
        if entry.of.joins:
            continue
        for line in data_warnings.so_far(
            entry.name,
            Path(f"results/{entry.name}/pairs"),
            {part.label: part.filters["warn_share"] for part in entry.parts},
            entry["mix"]["warn_pairs"],
            near=entry["mix"]["near_duplicates"]["enabled"],
        ):
            logger.warning(f"warning: {line}")


def check_config_files():
    """Before the first job: warn of models that other config files made; record which files make them now."""
    run.own()
    made = warn_of_config_files()
    if not workflow.touch:
        for name in made:
            made_with.note(f"results/{name}", config_files())


def warn_of_config_files():
    """Return the models that this run makes, by Snakemake's graph of jobs; warn of those that other files made."""
    files = [
        Path(file)
        for job in workflow.dag.needrun_jobs(exclude_finished=False)
        for file in job.output
        if re.fullmatch(rf"results/{MODEL}/model/config\.json", file)
    ]
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


def scratch(path):
    """Mark an intermediate file for removal after use, unless the config keeps it."""
    return path if CONFIG.keep_intermediate else temp(path)


def mem_mb(megabytes):
    """Scale memory with the attempt, so that a job killed for memory succeeds with --retries."""
    return lambda wildcards, input, attempt: int(
        (megabytes(wildcards, input) if callable(megabytes) else megabytes) * attempt
    )


def runtime(minutes, rate=None):
    """Scale minutes with the attempt; for a stage with a rate (pairs per second), also with twice its input."""
    if rate is None:
        return lambda wildcards, attempt: minutes * attempt
    return lambda wildcards, input, attempt: attempt * (
        minutes + 2 * rates.minutes(input.size_mb, rate)
    )


def subword_mb(wildcards, input):
    """Estimate sentencepiece's memory, which grows with its sample."""
    settings = model(wildcards).settings
    return SentencepieceTokenizer.making_mb(settings, float("inf"))


def rank_mb(wildcards, input):
    """Estimate the memory of ranking: a byte per pair, of about 50 at least in its file."""
    return 1000 + input.size_mb / 50


def train_mb(wildcards, input):
    """Estimate training's memory."""
    return model(wildcards).of.megabytes(model(wildcards), CONFIG.model)


def teach_mb(wildcards, input):
    """Estimate the memory of teaching: an encoder, and the distinct sentences, three times as large as their file."""
    size = sum(
        Path(file).stat().st_size for file in [input.pairs] if Path(file).exists()
    )
    return 3000 + 3 * size / 2**20


def train_block(wildcards):
    """Return the block of a model's training."""
    return model(wildcards)[model(wildcards).of.block]


def gpus(block):
    """Return how many GPUs a job requests from a cluster: one if the block that trains names a GPU."""
    return int(block["device"].startswith("cuda"))
