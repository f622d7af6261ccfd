# The model card, and the release: the model with its card, scores, licences and checksums; also as a .zip.
import hashlib
import typing

from psp.config.blocks.evaluation import Dtype

# A smaller form, such as int8-256.
FORM = rf"({'|'.join(typing.get_args(Dtype))})(-[1-9][0-9]*)?"


def data_reports(w):
    """Return the reports on the training data: the model's, or those of its parts, if they are only joined."""
    return [f"results/{w.model}/data.json"] if model(w).of.block else of_joined("data.json")(w)


# The card, with scores and training data: card.md, copied to README.md in the model folder.
rule card:
    input:
        model=trained,
        evaluate="results/{model}/eval.json",
        data=data_reports,
    output:
        "results/{model}/card.md",
    log:
        "results/{model}/logs/card.log",
    benchmark:
        "results/{model}/benchmarks/card.tsv"
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(10),
    params:
        version=VERSION["card"],
    message:
        "Writing the model card of {wildcards.model}"
    script:
        "../workflow_scripts/card.py"


def edited_card(w):
    """Return a hash of a model's card that a person has edited, so that another edit remakes the release."""
    from psp.models.card_file import edited

    text = edited(Path(f"results/{w.model}/model"))
    return None if text is None else hashlib.sha256(text).hexdigest()


rule release:
    input:
        model=trained,
        evaluate="results/{model}/eval.json",
        data="results/{model}/data.json",
        # An edited card is taken from the model's folder; otherwise the card there is this one.
        card="results/{model}/card.md",
        report="results/{model}/report.html",
    output:
        directory("results/{model}/release"),
    log:
        "results/{model}/logs/release.log",
    benchmark:
        "results/{model}/benchmarks/release.tsv"
    resources:
        mem_mb=mem_mb(2000),
        runtime=runtime(30),
    params:
        repo=setting("release", "repo"),
        form=None,
        edited=edited_card,
        version=VERSION["release"],
    message:
        "Writing the release of {wildcards.model}"
    script:
        "../workflow_scripts/release.py"


# A smaller form, such as release-int8, with its own scores.
use rule release as release_smaller with:
    input:
        model=trained,
        evaluate="results/{model}/quantized.json",
        data="results/{model}/data.json",
    output:
        directory("results/{model}/release-{form}"),
    log:
        "results/{model}/logs/release-{form}.log",
    benchmark:
        "results/{model}/benchmarks/release-{form}.tsv"
    wildcard_constraints:
        form=FORM,
    params:
        form=lambda w: w.form,
        edited=None,
    message:
        "Writing the release of {wildcards.model} as {wildcards.form}"


rule release_zip:
    input:
        "results/{model}/release{form}",
    output:
        packed="results/{model}/release{form}.zip",
        checksum="results/{model}/release{form}.zip.sha256",
    log:
        "results/{model}/logs/release{form}.zip.log",
    benchmark:
        "results/{model}/benchmarks/release{form}.zip.tsv"
    wildcard_constraints:
        form=f"|-{FORM}",
    resources:
        mem_mb=mem_mb(500),
        runtime=runtime(30),
    params:
        name="{model}{form}",
        version=VERSION["release_zip"],
    message:
        "Packing the release of {wildcards.model}{wildcards.form}"
    script:
        "../workflow_scripts/release_zip.py"
