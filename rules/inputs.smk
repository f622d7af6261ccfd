# Inputs shared by several stages.


#: The file of mixed pairs, after near-duplicate removal if the model uses it.
training_pairs = branch(
    setting("mix", "near_duplicates", "enabled"),
    then="results/{model}/pairs/neardup.tsv",
    otherwise="results/{model}/pairs/mix.tsv",
)
#: The report of near-duplicate removal, if there is one.
near_duplicates = branch(
    setting("mix", "near_duplicates", "enabled"),
    then=["results/{model}/pairs/neardup.json"],
)


def of_corpora(stage, ending=".json", wanted=lambda part: True):
    """Return an input function for a file that a stage makes of each of the model's corpora."""
    return lambda wildcards: [
        f"results/{wildcards.model}/pairs/{stage}/{part.label}{ending}"
        for part in model(wildcards).parts
        if wanted(part)
    ]


#: The report of each corpus that is ranked.
ranked_reports = of_corpora("rank", wanted=lambda part: part.ranked)


def vocabulary(wildcards):
    """Return the file of the model's tokenizer; of a joint model, those of all its parts."""
    entry = model(wildcards)
    if entry.of.joins:
        parts = [CONFIG.model(name) for name, _ in entry.combined]
        return [f"results/{part.name}/{part.tokenizer.file}" for part in parts]
    return f"results/{entry.name}/{entry.tokenizer.file}"


def stored(wildcards):
    """Return the file of all training pairs: ids, or the text itself; none if models were only joined."""
    of = model(wildcards).of
    if of.stores:
        return f"results/{wildcards.model}/store.h5"
    return training_pairs(wildcards) if of.block else []


def vocabulary_report(wildcards):
    """Return the report of the rule that made the vocabulary, if the model has one of its own."""
    if not model(wildcards).of.stores:
        return []
    return re.sub(r"\.\w+$", ".json", vocabulary(wildcards))


def judged_set(wildcards, name):
    """Return the entry of a further development set."""
    known = model(wildcards)["development"]["sets"]
    if name not in known:
        raise ConfigError(
            f"models.{wildcards.model}.development.sets: {name} is not one of them; there are "
            f"{', '.join(known) or 'none in its languages'}"
        )
    return known[name]


def judged_files(wildcards, name):
    """Return the files of a further development set."""
    place = f"models.{wildcards.model}.development.sets.{name}"
    return [str(file) for file in judged.files(judged_set(wildcards, name), place)]


def development(wildcards):
    """Return the files for the validation score: scored pairs, and the held-out slice of the training corpora."""
    entry = downloads(model(wildcards))
    wanted, files = entry["development"], {}
    if archive := CONFIG.sts_development(entry):
        files["archive"] = download(archive)
    elif wanted["sts"]:
        files["sts"] = f"results/{wildcards.model}/pairs/development.tsv"
    if wanted["heldout"]:
        files["heldout"] = f"results/{wildcards.model}/pairs/heldout.tsv"
    folder = f"results/{wildcards.model}/pairs/development"
    files["sets"] = [f"{folder}/{name}.tsv" for name in wanted["sets"]]
    return files


def init_from(wildcards):
    """Return the files of the model that training starts from, or of those that a joint model's parts start from."""
    entry = model(wildcards)
    entries = [CONFIG.model(part) for part, _ in entry.combined] or [entry]
    return [file for one in entries for file in files_of(one["train"]["init_from"])]


def init_vectors(wildcards):
    """Return the file of word vectors that training starts from, if any."""
    file = CONFIG.init_vectors(downloads(model(wildcards)))
    return [download(file)] if file else []


def tatoeba(wildcards):
    """Return the two files of each language's Tatoeba set."""
    return {
        language: [download(file) for file in pair]
        for language, pair in CONFIG.tatoeba(model(wildcards)).items()
    }


def fixed_tests(wildcards):
    """Return the block `evaluate` without the tasks, each of which has its own job."""
    block = model(wildcards)["evaluate"]
    return {key: value for key, value in block.items() if key != "tasks"}


#: The params of rules that run the test sets, which psp.config.jobs reads.
OF_TESTS = {
    "languages": attribute("languages"),
    "tatoeba": tatoeba,
    "settings": fixed_tests,
    "seed": attribute("seed"),
}


def test_sets(wildcards):
    entry = downloads(model(wildcards))
    files = {}
    if archive := CONFIG.sts_tests(entry):
        files["sts"] = download(archive)
    files["tatoeba"] = [file for pair in tatoeba(wildcards).values() for file in pair]
    files["files"] = list(entry["evaluate"]["files"].values())
    return files


def tasks_of(wildcards):
    """Return the names of the tasks that every model is scored on; nothing waits for those that a config adds."""
    entry = downloads(model(wildcards))
    return list(tasks.by_default(CONFIG.test_sources(entry, DOWNLOADS)))


def task_files(ending):
    """Return an input function for the scores on all tasks, or their resamples."""
    return lambda wildcards: [
        f"results/{wildcards.model}/tasks/{name}.{ending}"
        for name in tasks_of(wildcards)
    ]


def not_scored(wildcards):
    """Return the sets that the model is not scored on, each with the reason."""
    return evaluate.not_scored(CONFIG.test_sources(model(wildcards), DOWNLOADS))


def evaluated(wildcards):
    """Return the sets on which the model is evaluated, as arguments of psp.evaluation.scored."""
    entry = model(wildcards)
    return {
        "sts": test_sets(wildcards).get("sts"),
        "tatoeba": tatoeba(wildcards),
        "files": entry["evaluate"]["files"],
        "tasks": entry["evaluate"]["tasks"],
    }


def chosen_by(wildcards):
    """Return the sets by which the model is chosen, as arguments of psp.evaluation.scored."""
    entry = downloads(model(wildcards))
    archive = CONFIG.sts_development(entry)
    return {
        "development": entry["development"]["sts"],
        "archive": download(archive) if archive else None,
        "judged": entry["development"]["sets"],
    }


def evaluated_files(wildcards, sets):
    """Return the files of some of these sets."""
    files = [sets.get("sts"), sets.get("archive") or sets.get("development")]
    files += sets.get("files", {}).values()
    files += [file for pair in sets.get("tatoeba", {}).values() for file in pair]
    for name in sets.get("tasks", {}):
        task = CONFIG.task(wildcards.model, name, DOWNLOADS)
        files += [str(file) for file in task.files()]
    for name in sets.get("judged", {}):
        files += judged_files(wildcards, name)
    return sorted(set(filter(None, files)))


def origin(name, part, made=".json"):
    """Return the file that a corpus comes from; for pairs made from bitext, the report of making them, or the pairs."""
    if part.sources:
        return f"results/{name}/pairs/{part.of.made_by}/{part.label}{made}"
    return own_file(part)


def of_joined(file):
    """Return an input function for a file of each model that a combination joins."""
    return lambda wildcards: [
        f"results/{part}/{file}" for part, _ in model(wildcards).combined
    ]


def own_file(part):
    """Return the file of a corpus that is not made from others: a download, or the user's own."""
    return part.path or download(part.download)


def own_filters(part):
    """Return fingerprints of the user's own filters of a corpus."""
    return custom.fingerprint(part.filters["custom"])


def trained(wildcards):
    """Return the files of the trained model, config.json first."""
    return files_in(f"{home(wildcards)}/model", model(wildcards))
