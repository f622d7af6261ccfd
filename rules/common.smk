# Shared by all stages: the config and its checks, paths, wildcard constraints, small input functions. Errors of psp that
# functions of rules raise are reported in one line (psp/core/failures.py).
import functools
import operator
import os
import re
import sys
from pathlib import Path

from psp.config import rates, scored_sets, targets
from psp.config.config import Config
from psp.config.config_file import look
from psp.config.targets import DOWNLOADS
from psp.config.translator_entries import FOLDER
from psp.core import failures, run, user_code
from psp.core.errors import PspError
from psp.core.versions import VERSION
from psp.models.registry import encoder_files
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


def one_of(names):
    """Return an expression for these names; without any, for none."""
    return f"({'|'.join(map(re.escape, names))})" if names else "(?!)"


def made_by(*rules):
    """Return an expression for the models that these rules make: a model's files depend on its kind and tokenizer."""
    entries = map(CONFIG.model, CONFIG.models)
    return one_of([entry.name for entry in entries if entry.of.rule(entry) in rules])


# A translator has the stages of a model up to its own training, in a folder of this name.
TRANSLATORS = one_of([f"{FOLDER}/{name}" for name in CONFIG.trained_translators])
MODEL_OR_TRANSLATOR = f"({one_of(CONFIG.models)}|{TRANSLATORS})"
VARIANT = "results/{model}/variants/{variant}/{seed}"


wildcard_constraints:
    model=one_of(CONFIG.models),
    part=r"[^/]+",
    bitext=r"[^/]+",
    set=r"[^/]+",
    variant=r"[A-Za-z0-9][A-Za-z0-9._+=-]*",
    seed=r"[0-9]+",
    task=r"[A-Za-z0-9][A-Za-z0-9._-]*",
    system=r"[A-Za-z0-9][A-Za-z0-9._+-]*",


def model(w):
    """Return a job's resolved model, with a variant's settings; or the data of its translator."""
    if w.model.startswith(f"{FOLDER}/"):
        return CONFIG.cleared_translator(w.model.removeprefix(f"{FOLDER}/")).data
    if variant := w.get("variant"):
        return CONFIG.variant(w.model, variant)
    return CONFIG.cleared(w.model)


def checked(w):
    """Return the model after checking that its own files, and if offline its downloads, exist."""
    targets.check_files(CONFIG, model(w))
    return model(w)


def setting(*keys):
    """Return a param function for a setting of the model, so that changing it reruns the rule."""
    return lambda w: functools.reduce(operator.getitem, keys, model(w).settings)


def attribute(name):
    """Return a param function for the model's languages, seed or recipe."""
    return lambda w: getattr(model(w), name)


def with_code(version, tasks):
    """Return a stage's version; with one's own among these entries of `evaluate.tasks`, also hashes of their code."""
    own = [entry["task"] for entry in tasks.values() if ":" in entry["task"]]
    return [version, *user_code.fingerprint(own, "evaluate.tasks")] if own else version


def part_of(w):
    """Return the corpus of a job in results/<model>/pairs: the model's, or bitext that one is made from."""
    part = next(part for part in model(w).parts if part.label == w.part)
    if bitext := w.get("bitext"):
        return next(source for source in part.sources if source.label == bitext)
    return part


def of_corpora(stage, ending=".json"):
    """Return an input function for a file that a stage makes of each of the model's corpora."""
    return lambda w: [
        f"results/{w.model}/pairs/{stage}/{part.label}{ending}"
        for part in model(w).parts
        if stage != "rank" or part.ranked
    ]


def of_parts(name):
    """Return a param function for an attribute of each of the model's corpora."""
    return lambda w: [getattr(part, name) for part in model(w).parts]


def own_file(part):
    """Return the file of a corpus that is not made from others: a download, or the user's own."""
    return part.path or f"{DOWNLOADS}/{part.download}"


def origin(w, part, ending=".json"):
    """Return the file that a corpus comes from; for pairs made from bitext, the report of making them, or the pairs."""
    if part.sources:
        return f"results/{w.model}/pairs/{part.of.made_by}/{part.label}{ending}"
    return own_file(part)


def files_in(folder, entry):
    """Return the files of a model's folder by its entry in the config, config.json first."""
    return [f"{folder}/{name}" for name in entry.of.files(entry)]


def files_of(encoder):
    """Return the files of an encoder, if any, which may be one of this config's models, not trained yet."""
    match = re.fullmatch(r"results/([^/]+)/model/?", encoder or "")
    if match and match[1] in CONFIG.models:
        return files_in(encoder.rstrip("/"), CONFIG.model(match[1]))
    return encoder_files(encoder) if encoder else []


def home(w):
    """Return the folder of a training run: the model's, or that of a variant and seed."""
    return (VARIANT if w.get("variant") else "results/{model}").format(**w)


def trained(w):
    """Return the files of the trained model, config.json first."""
    return files_in(f"{home(w)}/model", model(w))


def of_joined(file):
    """Return an input function for a file of each model that a combination joins."""
    return lambda w: [f"results/{part}/{file}" for part, _ in model(w).combined]


def training_pairs(w):
    """Return the file of a model's mixed pairs, after near-duplicate removal if it uses that."""
    last = "neardup" if model(w)["mix"]["near_duplicates"]["enabled"] else "mix"
    return f"results/{w.model}/pairs/{last}.tsv"


def near_duplicates(w):
    """Return the report of near-duplicate removal, if there is one."""
    there = model(w)["mix"]["near_duplicates"]["enabled"]
    return f"results/{w.model}/pairs/neardup.json" if there else []


def vocabulary(w):
    """Return the file of the model's tokenizer; of a joint model, those of all its parts."""
    parts = [CONFIG.model(name) for name, _ in model(w).combined]
    files = [f"results/{part.name}/{part.pieces.file}" for part in parts]
    return files or f"results/{w.model}/{model(w).pieces.file}"


def stored(w):
    """Return the file of all training pairs: ids, or the text itself; none if models were only joined."""
    if model(w).of.stores:
        return f"results/{w.model}/store.h5"
    return training_pairs(w) if model(w).of.block else []


def scratch(path):
    """Mark an intermediate file for removal after use, unless the config keeps it."""
    return path if CONFIG.keep_intermediate else temp(path)


def mem_mb(megabytes):
    """Scale memory with the attempt, so that a job killed for memory succeeds with --retries."""
    return lambda w, input, attempt: int((megabytes(w, input) if callable(megabytes) else megabytes) * attempt)


def runtime(minutes, rate=None):
    """Scale minutes with the attempt; for a stage with a rate (pairs per second), also with twice its input."""
    if rate is None:
        return lambda w, attempt: minutes * attempt
    return lambda w, input, attempt: attempt * (minutes + 2 * rates.minutes(input.size_mb, rate))
