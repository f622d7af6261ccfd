# Inputs shared by several stages.


def training_pairs(wildcards):
    """Return the file of mixed pairs, after near-duplicate removal if the model uses it."""
    near = model(wildcards)["mix"]["near_duplicates"]["enabled"]
    return f"results/{wildcards.model}/pairs/{'neardup' if near else 'mix'}.tsv"


def near_duplicates(wildcards):
    """Return the report of near-duplicate removal, if there is one."""
    pairs = training_pairs(wildcards)
    return [pairs.replace(".tsv", ".json")] if pairs.endswith("neardup.tsv") else []


def development(wildcards):
    """Return the files for the validation score: an STS set, and the held-out slice of the training corpora."""
    entry = downloads(model(wildcards))
    wanted, files = entry["development"], {}
    if archive := CONFIG.sts_development(entry):
        files["archive"] = download(archive)
    elif wanted["sts"]:
        files["sts"] = wanted["sts"]
    if wanted["heldout"]:
        files["heldout"] = f"results/{wildcards.model}/pairs/heldout.tsv"
    return files


def init_from(wildcards):
    folder = model(wildcards)["train"]["init_from"]
    return model_files(folder) if folder else []


def test_sets(wildcards):
    entry = downloads(model(wildcards))
    files = {}
    if archive := CONFIG.sts_tests(entry):
        files["sts"] = download(archive)
    files["tatoeba"] = [
        download(file) for pair in CONFIG.tatoeba(entry).values() for file in pair
    ]
    files["files"] = list(entry["evaluate"]["files"].values())
    return files


def trained(wildcards):
    return model_files(f"{home(wildcards)}/model")
