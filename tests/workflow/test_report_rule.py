"""The rules that write pages."""

import re
import shutil

import pytest

from psp.core.files import read_json
from psp.report.curve import draw
from psp.report.report import write

PAGE = "results/demo/report.html"


def test_a_page_of_a_finished_run_has_its_curves_data_and_pairs(finished, tmp_path):
    results = finished.folder / "results/demo"
    write(results, tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    for part in ("scores", "retrieval", "data", "training", "again"):
        assert f'id="{part}"' in text
    assert "examples.json is missing" in text
    assert text.count("<svg") == 5  # scores, retrieval, pairs by stage, loss, validation score
    for corpus in read_json(results / "data.json")["corpora"]:
        assert f"{corpus['read']:,}" in text and corpus["source"]["sha256"] in text
    assert "Kept, as training sees them" in text


@pytest.mark.slow
def test_pages_are_made_and_made_again_for_what_they_show(compared, tmp_path):
    copy = compared.copy(tmp_path / "copy")
    assert copy.planned(PAGE) == {"examples", "report"}
    copy.run(PAGE)
    page = copy.folder / PAGE
    text = page.read_text()
    assert "is missing" not in text and 'id="examples"' in text and 'id="size"' in text  # quantized.json is there
    assert copy.planned(PAGE) == set()
    page.unlink()
    copy.run(PAGE)
    assert page.read_text() == text
    (copy.folder / "several.yaml").write_text("report: {models: [demo]}\n")
    configs = ("config/demo.yaml", "tiny.yaml", "several.yaml")
    copy.run("results/report.html", configs=configs)
    assert '<a href="demo/report.html">demo</a>' in (copy.folder / "results/report.html").read_text()
    # Snakemake's own report has the page.
    copy.run("--report", "all.zip", PAGE)
    shutil.unpack_archive(copy.folder / "all.zip", tmp_path / "all")
    assert any('id="scores"' in path.read_text(errors="replace") for path in (tmp_path / "all").rglob("*.html"))
    # Templates are no code, but an edit of one makes the page again, and nothing else.
    with (copy.folder / "psp/report/templates/page.css").open("a") as file:
        file.write("h1 { color: red; }\n")
    assert copy.planned(PAGE) == {"report"}


def test_a_page_waits_for_what_the_same_run_measures(fresh):
    output = fresh.run("--rulegraph", "dot", "--", "results/demo/speed.json", PAGE).output
    names = dict(re.findall(r'(\d+)\[label = "(\w+)"', output))
    edges = {(names[start], names[end]) for start, end in re.findall(r"(\d+) -> (\d+)", output)}
    assert ("speed", "report") in edges and ("quantize", "report") not in edges


@pytest.mark.slow
def test_the_curve_is_a_target_of_its_own_and_the_summary_has_the_scores(copy_of_finished, tmp_path):
    folder = copy_of_finished.folder / "results/demo"
    assert "1 of 1 steps" in copy_of_finished.run("results/demo/learning_curve.png").output  # nothing else is made
    draw([("demo", folder / "train")], tmp_path / "expected.png")
    assert (folder / "learning_curve.png").read_bytes() == (tmp_path / "expected.png").read_bytes()
    copy_of_finished.run("results/summary.csv")
    lines = (copy_of_finished.folder / "results/summary.csv").read_text().splitlines()
    assert lines[0].startswith("model,system,variant,seed,task,part,metric,unit,")
    assert any(line.startswith("demo,,,1,files,phrasebook,pearson,") for line in lines) and len(lines) == 7
    assert copy_of_finished.planned("results/summary.csv") == set()
