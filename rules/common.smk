# Config checking, paths, wildcard constraints: what all stages share.
import re
import sys
from pathlib import Path

from psp import datawarnings, failures, plan
from psp.config import RESERVED, Config
from psp.configfile import look
from psp.encoders import encoder_files
from psp.errors import ConfigError, PspError
from psp.filters import custom
from psp.fingerprint import fingerprint
from psp.training import launch
from snakemake.exceptions import WorkflowError
from snakemake.logging import logger


def read_config():
    """The checked config; what a person should know of it is said once, not in each job's process."""
    given = workflow.overwrite_configfiles
    own = [file for file in workflow.configfiles if file not in given]
    if workflow.is_main_process:
        for note in look([*own, *given]):
            logger.warning(f"note: {note}")
    return Config(config, Path(workflow.basedir) / "config/schema.yaml")


try:
    CONFIG = read_config()
except PspError as error:
    sys.exit(f"error: {error}")

DOWNLOADS = "results/downloads"


wildcard_constraints:
    model=r"(?!(downloads|phrasebook)/)[A-Za-z0-9][A-Za-z0-9._-]*",
    part=r"[^/]+",
    variant=r"[A-Za-z0-9][A-Za-z0-9._-]*",
    seed=r"[0-9]+",


def model(wildcards):
    """A job's resolved model, of a variant with its settings; a wrong name, or a forbidden corpus, is told in a line."""
    try:
        if variant := wildcards.get("variant"):
            return CONFIG.variant(wildcards.model, variant)
        return CONFIG.cleared(wildcards.model)
    except PspError as error:
        raise WorkflowError(failures.tell(error))


def setting(*keys):
    """A param: one of the model's settings, so that a change of it reruns the rule."""

    def get(wildcards):
        value = model(wildcards).settings
        for key in keys:
            value = value[key]
        return value

    return get


def uncompared(*keys):
    """A param that makes no other result: of a function that takes `input`, Snakemake compares no values."""
    return lambda wildcards, input: setting(*keys)(wildcards)


def attribute(name):
    """A param: the model's languages, seed or recipe."""
    return lambda wildcards: getattr(model(wildcards), name)


def part_of(wildcards):
    """The corpus of a job in results/<model>/pairs."""
    return next(part for part in model(wildcards).parts if part.label == wildcards.part)


def home(wildcards):
    """The folder of a job's training and its figures: the model's, or that of a variant and a seed."""
    folder = f"results/{wildcards.model}"
    if wildcards.get("variant"):
        folder += f"/variants/{wildcards.variant}/{wildcards.seed}"
    return folder


def download(name):
    return f"{DOWNLOADS}/{name}"


def targets(arguments):
    """The targets on the command line, as the folder under results/ and the path in it.

    Snakemake does not say what they are.
    """
    found = (re.fullmatch(r"results/([^/]+)/(.+)", argument) for argument in arguments)
    return sorted(match.groups() for match in found if match)


def models_asked_for(arguments):
    """The models whose targets are on the command line, all where none is."""
    names = dict.fromkeys(name for name, _ in targets(arguments)) or CONFIG.models
    return [CONFIG.model(name) for name in names if name not in RESERVED]


def check_targets(arguments):
    """Tell a wrong model name, a forbidden licence or missing files in one line, before Snakemake builds its graph.

    An error in an input function ends in a page of context; so the command line is looked at. Targets that are not on
    it meet the same checks later.
    """
    if workflow.is_main_process:  # jobs read this file again
        for entry in models_asked_for(arguments):
            for notice in CONFIG.notices(entry):
                logger.warning(f"warning: {notice}")
    for name, file in targets(arguments):
        if name in RESERVED:
            continue
        asked_for = CONFIG.cleared(name)
        if missing := missing_files(asked_for):
            raise ConfigError(missing)
        for needed in CONFIG.downloads(asked_for):
            CONFIG.remote(needed)  # a mirror with a wrong placeholder
        for part in asked_for.parts:
            custom.fingerprint(part.filters["custom"])  # a module that is not there
        if match := re.match(r"tune(?:\.json$|/([^/]+)/)", file):
            tuning = CONFIG.tuning(name)
            if match[1]:
                tuning.settings({}, match[1])
        if match := re.match(r"variants/([^/]+)/", file):
            CONFIG.variant(name, match[1])


def missing_files(model):
    """What to tell about files of the user's own, or of an offline run's downloads, that are not here."""
    if absent := CONFIG.absent(model):
        return (
            f"{', '.join(absent)}: no such file, but models.{model.name}.corpora has it; "
            "put it there or correct its path"
        )
    sets = {
        f"evaluate.files.{key}": path
        for key, path in model["evaluate"]["files"].items()
    }
    if model["development"]["sts"] != "semeval2017-en":
        sets["development.sts"] = model["development"]["sts"]
    for key, path in sets.items():
        if path and not path.startswith("results/") and not Path(path).is_file():
            return f"{path}: no such file, but models.{model.name}.{key} has it; put it there or correct its path"
    missing = CONFIG.missing(model, DOWNLOADS) if CONFIG.offline else []
    if not missing:
        return None
    return (
        f"offline, and {len(missing)} file(s) of model {model.name} are not here: "
        + ", ".join(map(download, missing))
        + "; put them there or run once without offline"
    )


def downloads(model):
    """The model, once it is known that its own files, and offline its downloads, are here."""
    try:
        missing = missing_files(model)
    except PspError as error:
        raise WorkflowError(failures.tell(error))
    if missing:
        raise WorkflowError(failures.tell(ConfigError(missing)))
    return model


try:
    check_targets(sys.argv[1:])
except PspError as error:
    sys.exit(f"error: {error}")


def say_warnings():
    """Tell what deserves a second look in the data of the models that were asked for, by default all."""
    for entry in models_asked_for(sys.argv[1:]):
        for line in datawarnings.so_far(
            entry.name,
            Path(f"results/{entry.name}/pairs"),
            {part.label: part.filters["warn_share"] for part in entry.parts},
            entry["mix"]["warn_pairs"],
            near=entry["mix"]["near_duplicates"]["enabled"],
        ):
            logger.warning(f"warning: {line}")


def training_pairs(wildcards):
    """The mixed pairs, after near-duplicates are removed where the model wants that."""
    near = model(wildcards)["mix"]["near_duplicates"]["enabled"]
    return f"results/{wildcards.model}/pairs/{'neardup' if near else 'mix'}.tsv"


def near_duplicates(wildcards):
    """The report of their removal, if there is one."""
    pairs = training_pairs(wildcards)
    return [pairs.replace(".tsv", ".json")] if pairs.endswith("neardup.tsv") else []


def scratch(path):
    """What is only a step on the way is removed once it is used, unless the config keeps it."""
    return path if CONFIG.keep_intermediate else temp(path)


def mem_mb(megabytes):
    """Memory that grows with each attempt, so that a job killed for memory gets through with --retries."""
    return lambda wildcards, input, attempt: int(
        (megabytes(wildcards, input) if callable(megabytes) else megabytes) * attempt
    )


def runtime(minutes):
    """Minutes that grow with each attempt."""
    return lambda wildcards, attempt: minutes * attempt


def subword_mb(wildcards, input):
    """sentencepiece's memory grows with its sample."""
    return plan.subword_mb(model(wildcards)["subword"]["sample"])


def train_mb(wildcards, input):
    """Training's memory grows with its table, of which each process has a copy."""
    return plan.train_mb(
        model(wildcards)["subword"]["vocab_size"],
        plan.largest(model(wildcards), "dim"),
        launch.count(model(wildcards)["train"]),
    )


def train_threads(wildcards):
    """The threads of all processes of a training."""
    train = model(wildcards)["train"]
    return train["threads"] * launch.count(train)
