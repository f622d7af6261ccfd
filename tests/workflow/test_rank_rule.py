"""Ranking through Snakemake: which pairs are trained on, what reruns, and what is said where scores are missing."""

import random

import pytest

from psp.core.files import read_json

LABEL = "scored.en-fr"
RANK = "rank: {by: translation, deciles: [10, 1]}"
MODEL = f"""
  ranked:
    extends: demo
    filters: {{language: {{enabled: false}}}}
    corpora: [{{path: scored.tsv, {RANK}}}, {{path: plain.tsv}}]
"""
COLOURS = ["red", "green", "blue", "white", "black", "grey", "brown", "pink"]
THINGS = ["car", "house", "boat", "shirt", "door", "bird", "chair", "lamp", "cup", "hat"]


def write(workflow, count=1200):
    """Two files: pairs with a score and a translation score, and pairs with none."""
    rng = random.Random(3)
    texts = [f"{rng.choice(COLOURS)} {rng.choice(THINGS)} number {n} here" for n in range(count)]
    scores = [-5 * rng.random() for _ in texts]
    rows = [f"a {text}\tune {text}\t0.5\t{score!r}\n" for text, score in zip(texts, scores, strict=True)]
    (workflow.folder / "scored.tsv").write_text("".join(rows))
    (workflow.folder / "plain.tsv").write_text("".join(f"the {text}\tla {text}\n" for text in texts))
    workflow.add(MODEL)
    return sorted(zip(scores, texts, strict=True))


@pytest.mark.slow
def test_the_wanted_deciles_are_trained_on_and_reported(copy_of_finished):
    workflow = copy_of_finished
    ordered = write(workflow)
    targets = [f"results/ranked/{name}" for name in ("eval.json", "data.json")]
    workflow.run("--config", "keep_intermediate=true", "--", *targets)
    folder = workflow.folder / "results/ranked"
    report = read_json(folder / f"pairs/rank/{LABEL}.json")
    assert (report["by"], report["deciles"], report["seen"], report["kept"]) == ("translation", [1, 10], 1200, 240)
    kept = {line.split("\t")[0] for line in (folder / f"pairs/rank/{LABEL}.tsv").read_text().splitlines()}
    assert kept == {f"a {text}" for _, text in ordered[:120] + ordered[-120:]}
    # Later stages have the score, and not the translation score; the other corpus went past the rule.
    assert {len(line.split("\t")) for line in (folder / f"pairs/dedupe/{LABEL}.tsv").read_text().splitlines()} == {3}
    assert not (folder / "pairs/rank/plain.en-fr.json").exists()
    data, evaluation = read_json(folder / "data.json"), read_json(folder / "eval.json")
    assert evaluation["data"]["rank"] == [report]
    assert evaluation["differences"]["corpora.scored.rank.by"] == "translation"
    assert data["corpora"][0]["ranked"] == {"by": "translation", "deciles": [1, 10], "other_deciles": 960}
    assert "ranked" not in data["corpora"][1] and data["total"]["ranked"] == {"other_deciles": 960}
    page = (folder / "data.md").read_text()
    assert "- ranked by translation; kept: deciles 1, 10 of 10" in page and "| in other deciles |" in page

    assert workflow.planned(*targets) == set()
    workflow.edit("tiny.yaml", "[10, 1]", "[10]")
    assert {"rank", "dedupe", "train"} <= workflow.planned(*targets)
    assert "filter" not in workflow.planned("--config", "keep_intermediate=true", "--", *targets)
    workflow.edit("tiny.yaml", ", rank: {by: translation, deciles: [10]}", "")
    planned = workflow.planned("--config", "keep_intermediate=true", "--", *targets)
    assert "dedupe" in planned and not planned & {"filter", "rank"}


@pytest.mark.slow
def test_missing_scores_are_one_line_that_names_what_has_them(project):
    write(project, 40)
    project.edit("tiny.yaml", "{path: plain.tsv}", "{path: plain.tsv, rank: {by: score}}")
    result = project.run("results/ranked/pairs/dedupe/plain.en-fr.json", check=False)
    assert result.returncode != 0 and "Traceback" not in result.output, result.output
    assert f"plain has no scores (a third column); of the model's corpora, {LABEL} can be ranked so" in result.output
    assert not list((project.folder / "results/ranked/pairs").glob("rank/plain*.tsv"))
