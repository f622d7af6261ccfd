"""English alone, from rows of ParaNMT's format; and a model of two languages over those and a file of one's own."""

import gzip
import json
import random
import re
import zipfile

import pytest

from phrasebook.meaning import Sampler
from phrasebook.speak import English, French
from psp.pairs.store import Store

MODELS = """
sources:
  paranmt: {mirrors: ["{corpus}.zip"]}
corpora:
  Sayings:
    kind: paranmt
    version: v1
    licence: MIT
    filters:
      language: {enabled: true, sides: both}
      score: {enabled: true, min: 0.4, max: 1.0}
      identical: {enabled: false}
models:
  english: {extends: demo, languages: [en], corpora: [Sayings]}
  both:
    extends: demo
    languages: [en, fr]
    corpora: [{name: Sayings, languages: [en, en]}, {path: "Own pairs.tsv.gz", licence: MIT}]
"""
BAD = ["no columns at all here", "two columns\there", "a score\tthat is\tnan", "a score\tthat is\thigh"]


@pytest.fixture(scope="module")
def wordings():
    """Meanings, each said twice in English and once in French."""
    rng = random.Random(5)
    sampler, english, french = Sampler(rng, held=False), English(rng), French(rng)
    meanings = [sampler.draw() for _ in range(2500)]
    return [(english.say(meaning), english.say(meaning), french.say(meaning)) for meaning in meanings]


def write(folder, wordings, bad=BAD):
    rng = random.Random(6)
    lines = [f"{one}\t{other}\t{rng.uniform(0.2, 1.2):.4f}" for one, other, _ in wordings]
    lines += rng.sample(lines, len(lines) // 8)  # copies ...
    lines += [line.rpartition("\t")[0] + "\t0.9999" for line in lines[:20]]  # ... and copies with another score
    lines += bad
    rng.shuffle(lines)
    with zipfile.ZipFile(folder / "Sayings.zip", "w") as archive:
        archive.writestr("folder/sayings.txt", "".join(f"{line}\n" for line in lines))
    with gzip.open(folder / "Own pairs.tsv.gz", "wb") as file:
        file.write("".join(f"{one}\t{french}\n" for one, _, french in wordings[:1500]).encode())
    with (folder / "tiny.yaml").open("a") as file:
        file.write(MODELS[MODELS.index("sources:") : MODELS.index("models:")])
    text = (folder / "tiny.yaml").read_text().replace("models:\n", "models:\n" + MODELS.split("models:\n")[1], 1)
    (folder / "tiny.yaml").write_text(text)
    return [line.split("\t") for line in lines]


@pytest.mark.slow
def test_paraphrases_and_a_file_of_ones_own_become_models(project, wordings):
    rows = write(project.folder, wordings)
    targets = [f"results/{name}/{file}.json" for name in ("english", "both") for file in ("eval", "data")]
    project.run("--config", "keep_intermediate=true", "--", *targets)
    results = project.folder / "results"

    # Every row has its place, and the rows that are no pairs are told by kind.
    report = json.loads((results / "english/pairs/filter/Sayings.en-en.json").read_text())
    assert report["seen"] == len(rows) == report["kept"] + sum(report["dropped"].values())
    assert (report["dropped"]["row: columns"], report["dropped"]["row: score"]) == (2, 2)
    numbers = [float(row[2]) for row in rows if len(row) == 3 and row[2] not in ("nan", "high")]
    assert report["dropped"]["score: too low"] == sum(number < 0.4 for number in numbers)
    assert report["dropped"]["score: too high"] == sum(number > 1.0 for number in numbers)
    # Of copies the one with the highest score is kept.
    best = {}
    for line in (results / "english/pairs/filter/Sayings.en-en.tsv").read_text().splitlines():
        source, target, score = line.split("\t")
        best[source, target] = max(float(score), best.get((source, target), 0))
    kept = (results / "english/pairs/dedupe/Sayings.en-en.tsv").read_text().splitlines()
    assert {tuple(line.split("\t")[:2]): float(line.split("\t")[2]) for line in kept} == best
    assert len(kept) == len(best) < report["kept"]

    evaluation = json.loads((results / "english/eval.json").read_text())
    assert evaluation["languages"] == ["en"]
    assert list(evaluation["tasks"]) == ["files"]
    assert evaluation["tasks"]["files"]["parts"]["phrasebook"]["items"] == 1000
    assert evaluation["differences"]["corpora.Sayings.filters.score.enabled"] is True
    assert evaluation["train"]["settings"]["negatives"] == "auto"
    assert evaluation["train"]["best"]["pairs_heldout"] == 100

    evaluation = json.loads((results / "both/eval.json").read_text())
    assert [part["label"] for part in evaluation["data"]["mix"]["corpora"]] == ["Sayings.en-en", "Own-pairs.en-fr"]
    assert set(evaluation["tasks"]["tatoeba"]["parts"]) == {"fra-eng", "eng-fra", "fra", "mean"}
    with Store(results / "both/store.h5") as store:
        assert store.corpus_languages == [["en", "en"], ["en", "fr"]]
        block = store.read(0, len(store))
        assert (block.paraphrase == (block.corpus == 0)).all()
        assert 0 < block.paraphrase.sum() < len(store)

    corpora = json.loads((results / "both/data.json").read_text())["corpora"]
    assert [(part["kind"], part["licence"]["declared"]) for part in corpora] == [("paranmt", "MIT"), ("local", "MIT")]

    # A file of one's own is an input like any other.
    assert project.planned(*targets) == set()
    with gzip.open(project.folder / "Own pairs.tsv.gz", "ab") as file:
        file.write(b"One more line\tUne ligne de plus\n")
    assert {"filter", "train"} <= project.planned("results/both/eval.json")
    assert project.planned("results/english/eval.json") == set()


def failure(project, *arguments):
    result = project.run(*arguments, check=False)
    assert result.returncode != 0 and "Traceback" not in result.output, result.output
    return result.output


@pytest.mark.slow
def test_a_missing_file_of_ones_own_is_told_before_anything_runs(project, wordings):
    write(project.folder, wordings[:50])
    (project.folder / "Own pairs.tsv.gz").unlink()
    output = failure(project, "--dry-run", "results/both/eval.json")
    assert "error: Own pairs.tsv.gz: no such file, but models.both.corpora names it" in output
    assert len(output.splitlines()) < 8
    assert "train" in project.planned("results/english/eval.json")


@pytest.mark.slow
def test_a_file_of_rows_that_are_no_pairs_ends_the_run_and_leaves_nothing(project, wordings):
    write(project.folder, wordings[:50], bad=[*BAD, *["one column"] * 200])
    output = failure(project, "results/english/pairs/mix.json")
    assert re.search(r"error: \S+\.zip, line \d+: .* rows are wrong, .* filters\.max_bad_rows", output)
    assert not list((project.folder / "results/english/pairs").rglob("*.tsv"))


@pytest.mark.slow
def test_a_score_filter_on_a_file_without_scores(project, wordings):
    write(project.folder, wordings[:50])
    project.edit("tiny.yaml", 'gz", licence: MIT', 'gz", licence: MIT, filters: {score: {enabled: true}}')
    assert "the corpus carries no scores" in failure(project, "results/both/pairs/filter/Own-pairs.en-fr.json")
