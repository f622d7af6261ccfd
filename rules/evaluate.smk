# Score models: each task in a job of its own, and all of them in eval.json.
from psp.evaluation import tasks

#: The tasks that every model has.
STANDARD_TASKS = one_of([kind.kind for kind in tasks.of_every_model()])


def fixed_tests(w):
    """Return the block `evaluate` without the tasks, each of which has its own job."""
    return {key: value for key, value in model(w)["evaluate"].items() if key != "tasks"}


def test_sets(w):
    """Return the files of the test sets."""
    return scored_sets.test_files(CONFIG, checked(w))


#: The params of rules that run the test sets, which psp.config.jobs reads.
OF_TESTS = {
    "languages": attribute("languages"),
    "tatoeba": lambda w: scored_sets.tatoeba(CONFIG, model(w)),
    "settings": fixed_tests,
    "seed": attribute("seed"),
}


def task(w):
    """Return a model's task."""
    return CONFIG.task(w.model, w.task, DOWNLOADS)


def task_inputs(w):
    """Return the files that a task reads."""
    return [str(file) for file in task(w).files()]


rule task:
    input:
        model=trained,
        store=[],
        files=task_inputs,
    output:
        json="results/{model}/tasks/{task}.json",
        resamples="results/{model}/tasks/{task}.safetensors",
    log:
        "results/{model}/logs/tasks/{task}.log",
    benchmark:
        "results/{model}/benchmarks/tasks/{task}.tsv"
    wildcard_constraints:
        task=STANDARD_TASKS,
    priority: 1
    threads: 2
    resources:
        mem_mb=mem_mb(4000),
        runtime=runtime(120),
    params:
        settings=lambda w: {"task": task(w).kind, **task(w).settings},
        encoder=None,  # the model itself; the rule for systems is in compare.smk
        languages=attribute("languages"),
        resamples=setting("evaluate", "resamples"),
        seed=attribute("seed"),
        version=lambda w: with_code(VERSION["task"], {w.task: {"task": task(w).kind}}),
    message:
        "Scoring {wildcards.model} on {wildcards.task}"
    script:
        "../workflow_scripts/task.py"


# A task that the config adds. The overlap of its sentences with the training pairs is counted, too; standard sets are
# kept clear of training.
use rule task as added_task with:
    input:
        model=trained,
        store=lambda w: [] if model(w).of.joins else stored(w),
        files=task_inputs,
    wildcard_constraints:
        task=rf"(?!{STANDARD_TASKS}\.)[A-Za-z0-9][A-Za-z0-9._-]*",
    priority: 0


def task_names(w):
    """Return the names of the tasks that every model is scored on; nothing waits for those that a config adds."""
    return list(tasks.by_default(CONFIG.test_sources(checked(w), DOWNLOADS)))


def of_tasks(ending):
    """Return an input function for the scores on these tasks, or their resamples."""
    return lambda w: [f"results/{w.model}/tasks/{name}.{ending}" for name in task_names(w)]


def not_scored(w):
    """Return the sets that the model is not scored on, each with the reason."""
    return tasks.not_scored(CONFIG.test_sources(model(w), DOWNLOADS))


def vocabulary_report(w):
    """Return the report of the rule that made the vocabulary, if the model has one of its own."""
    return re.sub(r"\.\w+$", ".json", vocabulary(w)) if model(w).of.stores else []


def made_parts(w):
    """Return the model's corpora whose pairs are made from others."""
    return [part for part in model(w).parts if part.of.made_by]


rule evaluate:
    input:
        tasks=of_tasks("json"),
        resampled=of_tasks("safetensors"),
        train="results/{model}/train/train.json",
        vocabulary=vocabulary_report,
        mix="results/{model}/pairs/mix.json",
        near=near_duplicates,
        filter=of_corpora("filter"),
        rank=of_corpora("rank"),
        dedupe=of_corpora("dedupe"),
        made=lambda w: [origin(w, part) for part in made_parts(w)],
    output:
        json="results/{model}/eval.json",
        resamples="results/{model}/eval.safetensors",
    log:
        "results/{model}/logs/evaluate.log",
    benchmark:
        "results/{model}/benchmarks/evaluate.tsv"
    wildcard_constraints:
        model=made_by("train", "train_vocabulary", "train_transformer"),
    # Before the tasks that a config adds, since one of these may fail.
    priority: 1
    threads: 2
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(60),
    params:
        **OF_TESTS,
        tasks=task_names,
        skipped=not_scored,
        recipe=attribute("recipe"),
        differences=attribute("differences"),
        tuned=attribute("tuned"),
        decontaminate=setting("filters", "decontaminate"),
        unpinned=lambda w: [name for name in CONFIG.downloads(model(w)) if name not in CONFIG.pins],
        made=lambda w: [part.kind for part in made_parts(w)],
        version=VERSION["evaluate"],
    message:
        "Evaluating {wildcards.model}"
    script:
        "../workflow_scripts/evaluate.py"


# The same for a combination of models and its parts.
rule evaluate_combined:
    input:
        tasks=of_tasks("json"),
        resampled=of_tasks("safetensors"),
        evaluations=of_joined("eval.json"),
        resamples=of_joined("eval.safetensors"),
    output:
        json="results/{model}/eval.json",
        resamples="results/{model}/eval.safetensors",
    log:
        "results/{model}/logs/evaluate_combined.log",
    benchmark:
        "results/{model}/benchmarks/evaluate_combined.tsv"
    wildcard_constraints:
        model=made_by("combine", "train_joint"),
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        parts=attribute("combined"),
        settings=fixed_tests,
        tasks=task_names,
        skipped=not_scored,
        seed=attribute("seed"),
        version=VERSION["evaluate_combined"],
    message:
        "Evaluating {wildcards.model}, a combination"
    script:
        "../workflow_scripts/evaluate_combined.py"


# Sentences of the test sets that the model gets right and wrong, for people to read.
rule examples:
    input:
        unpack(test_sets),
        model=trained,
    output:
        "results/{model}/examples.json",
    log:
        "results/{model}/logs/examples.log",
    benchmark:
        "results/{model}/benchmarks/examples.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(30),
    params:
        **OF_TESTS,
        version=VERSION["examples"],
    message:
        "Collecting what {wildcards.model} gets right and wrong"
    script:
        "../workflow_scripts/examples.py"


# Evaluate quantized and shortened versions of the model.
rule quantize:
    input:
        unpack(test_sets),
        model=trained,
    output:
        "results/{model}/quantized.json",
    log:
        "results/{model}/logs/quantize.log",
    benchmark:
        "results/{model}/benchmarks/quantize.tsv"
    threads: 2
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(60),
    params:
        **OF_TESTS,
        tables=setting("quantize"),
        version=VERSION["quantize"],
    message:
        "Evaluating quantized versions of {wildcards.model}"
    script:
        "../workflow_scripts/quantize.py"
