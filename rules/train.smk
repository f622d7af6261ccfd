# Train models, with validation on development data; model/ is the folder that users load. Models of one rule have the
# same files. A file that a model does not need is an empty list.
from psp.config.blocks.teacher import OF_VECTORS
from psp.config.training import beside, parameters, table_mb, transformer_beside, transformer_parameters
from psp.models import TRANSFORMER_NAMES
from psp.models.registry import SENTENCE_TRANSFORMERS


def kept_clear_of(w):
    """Return the sets whose sentences the model's development sets must not hold."""
    return scored_sets.kept_clear_of(CONFIG, checked(w))


# Keep the user's own development set clear of the model's evaluation sets.
rule development_pairs:
    input:
        tests=lambda w: scored_sets.files(CONFIG, model(w), kept_clear_of(w)),
        development=setting("development", "sts"),
    output:
        pairs="results/{model}/pairs/development.tsv",
        report="results/{model}/pairs/development.json",
    log:
        "results/{model}/logs/development_pairs.log",
    benchmark:
        "results/{model}/benchmarks/development_pairs.tsv"
    resources:
        mem_mb=mem_mb(1000),
        runtime=runtime(10),
    params:
        sets=kept_clear_of,
        entry={},
        version=lambda w: with_code(VERSION["development_pairs"], kept_clear_of(w).get("tasks", {})),
    message:
        "Keeping {wildcards.model}'s development set clear of its test sets"
    script:
        "../workflow_scripts/development_pairs.py"


# The same for each further set of the config.
use rule development_pairs as development_set with:
    input:
        tests=lambda w: scored_sets.files(CONFIG, model(w), kept_clear_of(w)),
        development=lambda w: scored_sets.judged_files(model(w), w.set),
    output:
        pairs="results/{model}/pairs/development/{set}.tsv",
        report="results/{model}/pairs/development/{set}.json",
    log:
        "results/{model}/logs/development/{set}.log",
    benchmark:
        "results/{model}/benchmarks/development/{set}.tsv"
    params:
        entry=lambda w: scored_sets.judged_set(model(w), w.set),
    message:
        "Keeping the development set {wildcards.set} of {wildcards.model} clear of its test sets"


def development(w):
    """Return the files for the validation score: scored pairs, and the held-out slice of the training corpora."""
    wanted, folder, files = checked(w)["development"], f"results/{w.model}/pairs", {}
    if archive := CONFIG.sts_development(model(w)):
        files["archive"] = f"{DOWNLOADS}/{archive}"
    elif wanted["sts"]:
        files["sts"] = f"{folder}/development.tsv"
    if wanted["heldout"]:
        files["heldout"] = f"{folder}/heldout.tsv"
    return {
        **files,
        "sets": [f"{folder}/development/{name}.tsv" for name in wanted["sets"]],
    }


# Embed the sentences of a model's pairs with its teacher, once; see psp/training/teaching/teach.py.
rule teach:
    input:
        pairs=training_pairs,
        encoder=lambda w: files_of(model(w)["teacher"]["encoder"]),
    output:
        targets="results/{model}/teacher.safetensors",
        report="results/{model}/teacher.json",
    log:
        "results/{model}/logs/teach.log",
    benchmark:
        "results/{model}/benchmarks/teach.tsv"
    threads: setting("train", "threads")
    resources:
        # An encoder, and the distinct sentences, three times as large as their file.
        mem_mb=mem_mb(lambda w, input: 3000 + 3 * input.size_mb),
        runtime=runtime(2880),
    params:
        settings=lambda w: {key: model(w)["teacher"][key] for key in OF_VECTORS},
        corpora=lambda w: [[list(part.languages), part.is_text] for part in model(w).parts],
        version=VERSION["teach"],
        # Not the rule's threads, which Snakemake limits to --cores: their number can change the last bits.
        threads=lambda w, input: model(w)["train"]["threads"],
    message:
        "Embedding the sentences of {wildcards.model} by its teacher"
    script:
        "../workflow_scripts/teach.py"


def teacher(w):
    """Return the vectors that the model learns from a teacher, if it has one."""
    return [f"results/{w.model}/teacher.safetensors"] if model(w)["teacher"]["encoder"] else []


# Embed the pieces of a model's vocabulary with the encoder that its training starts from. Vectors are kept by the
# pieces' text, so that another vocabulary embeds only its new pieces.
rule piece_vectors:
    input:
        vocabulary=vocabulary,
        encoder=lambda w: files_of(model(w)["train"]["init_encoder"]),
    output:
        "results/{model}/piece_vectors.safetensors",
    log:
        "results/{model}/logs/piece_vectors.log",
    benchmark:
        "results/{model}/benchmarks/piece_vectors.tsv"
    threads: setting("train", "threads")
    resources:
        mem_mb=mem_mb(3000),
        runtime=runtime(120),
    params:
        encoder=setting("train", "init_encoder"),
        version=VERSION["piece_vectors"],
        threads=lambda w, input: model(w)["train"]["threads"],
    message:
        "Embedding the pieces of {wildcards.model} by the encoder that it starts from"
    script:
        "../workflow_scripts/piece_vectors.py"


def piece_vectors(w):
    """Return the vectors of the pieces that training starts from, if an encoder makes them."""
    return [f"results/{w.model}/piece_vectors.safetensors"] if model(w)["train"]["init_encoder"] else []


def init_from(w):
    """Return the files of the model that training starts from, or of those that a joint model's parts start from."""
    entries = [CONFIG.model(part) for part, _ in model(w).combined] or [model(w)]
    return [file for entry in entries for file in files_of(entry["train"]["init_from"])]


def init_vectors(w):
    """Return the file of word vectors that training starts from, if any."""
    file = CONFIG.init_vectors(checked(w))
    return [f"{DOWNLOADS}/{file}"] if file else []


def searched(w):
    """Return for each point of the model's grid the values of what the grid searches."""
    entry = CONFIG.cleared(w.model)
    return {name: dict(entry.variants[name].point) for name in entry.points}


def points(w):
    """Return the train.json of each point of the model's grid."""
    seed = CONFIG.cleared(w.model).seed
    return [f"results/{w.model}/variants/{name}/{seed}/train/train.json" for name in searched(w)]


# Train a model of subwords: a table of vectors, or an LSTM over one.
rule train:
    input:
        unpack(development),
        store="results/{model}/store.h5",
        vocabulary=vocabulary,
        init_from=init_from,
        init_vectors=init_vectors,
        piece_vectors=piece_vectors,
        teacher=teacher,
        # With `settings_from: variants`, training takes the settings of the best point.
        points=lambda w: points(w) if model(w).tuned else [],
    output:
        "results/{model}/model/config.json",
        "results/{model}/model/sentencepiece.model",
        "results/{model}/model/model.safetensors",
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    log:
        "results/{model}/logs/train.log",
    benchmark:
        "results/{model}/benchmarks/train.tsv"
    wildcard_constraints:
        model=made_by("train"),
    threads: setting("train", "threads")
    resources:
        mem_mb=mem_mb(lambda w, input: table_mb(model(w), CONFIG.model)),
        gpu=lambda w: int(model(w)["train"]["device"].startswith("cuda")),
        runtime=runtime(2880),
    params:
        training=lambda w: parameters(model(w)),
        seed=lambda w: int(w.get("seed", model(w).seed)),
        searched=lambda w: searched(w) if model(w).tuned else {},
        # Not compared. Its threads are not the rule's, which Snakemake limits to --cores: their number can change the
        # last bits of a model.
        job=lambda w, input: beside(model(w)),
        version=VERSION["train"],
    message:
        "Training {wildcards.model}"
    script:
        "../workflow_scripts/train.py"


# Words or trigrams have a vocabulary of another form.
use rule train as train_vocabulary with:
    output:
        "results/{model}/model/config.json",
        "results/{model}/model/vocabulary.txt",
        "results/{model}/model/model.safetensors",
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    log:
        "results/{model}/logs/train_vocabulary.log",
    benchmark:
        "results/{model}/benchmarks/train_vocabulary.tsv"
    wildcard_constraints:
        model=made_by("train_vocabulary"),


# Encoders trained together. Beside these files, the folder has the vocabulary of each.
use rule train as train_joint with:
    output:
        "results/{model}/model/config.json",
        "results/{model}/model/model.safetensors",
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    wildcard_constraints:
        model=made_by("train_joint"),


rule train_transformer:
    input:
        unpack(development),
        pairs=training_pairs,
        # Of its base, if that is a folder.
        base=lambda w: encoder_files(f"{SENTENCE_TRANSFORMERS}{model(w).base}"),
        teacher=teacher,
    output:
        [f"results/{{model}}/model/{name}" for name in TRANSFORMER_NAMES.values()],
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    log:
        "results/{model}/logs/train_transformer.log",
    benchmark:
        "results/{model}/benchmarks/train_transformer.tsv"
    wildcard_constraints:
        model=made_by("train_transformer"),
    threads: setting("transformer", "threads")
    resources:
        # Weights, gradient and two moments of a base of 125M parameters, and one mini-batch.
        mem_mb=mem_mb(6000),
        gpu=lambda w: int(model(w)["transformer"]["device"].startswith("cuda")),
        runtime=runtime(2880),
    params:
        training=lambda w: transformer_parameters(model(w)),
        seed=lambda w: int(w.get("seed", model(w).seed)),
        job=lambda w, input: transformer_beside(model(w)),
        version=VERSION["train_transformer"],
    message:
        "Training {wildcards.model}"
    script:
        "../workflow_scripts/train_transformer.py"


# Join separately trained models into one. Beside these files, the folder has the vocabulary of each.
rule combine:
    input:
        models=lambda w: [
            file for part, _ in model(w).combined for file in files_in(f"results/{part}/model", CONFIG.model(part))
        ],
    output:
        "results/{model}/model/config.json",
        "results/{model}/model/model.safetensors",
    log:
        "results/{model}/logs/combine.log",
    benchmark:
        "results/{model}/benchmarks/combine.tsv"
    wildcard_constraints:
        model=made_by("combine"),
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(10),
    params:
        parts=lambda w: [part for part, _ in model(w).combined],
        weights=lambda w: [weight for _, weight in model(w).combined],
        version=VERSION["combine"],
    message:
        "Joining the models of {wildcards.model}"
    script:
        "../workflow_scripts/combine.py"


# A picture of the learning curves; nothing else depends on it.
rule curve:
    input:
        metrics="results/{model}/train/metrics.csv",
        report="results/{model}/train/train.json",
    output:
        "results/{model}/learning_curve.png",
    log:
        "results/{model}/logs/curve.log",
    benchmark:
        "results/{model}/benchmarks/curve.tsv"
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        version=VERSION["curve"],
    message:
        "Drawing the learning curves of {wildcards.model}"
    script:
        "../workflow_scripts/curve.py"
