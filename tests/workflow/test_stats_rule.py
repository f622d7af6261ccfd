"""The rule `stats`, on the demo's corpora."""

import json

import pytest

REPORT, TEXT, SHEET = (f"results/demo/stats.{ending}" for ending in ("json", "md", "sheet.tsv"))


@pytest.mark.slow
def test_corpora_are_measured_and_labels_read(copy_of_finished):
    project = copy_of_finished
    assert project.planned(REPORT) == {"filter", "stats"}  # filter's pairs were removed after use
    project.add("stats: {pairs: 500, sheet: 10, idf_from: {en: english.txt}}\n")
    (project.folder / "english.txt").write_text("the cat sees a dog\n" * 3)
    project.run(REPORT)
    report = json.loads((project.folder / REPORT).read_text())
    corpus = report["corpora"][0]
    assert corpus["label"] == "Phrasebook.en-fr" and corpus["sampled"] == 500 and corpus["overlap"] is None
    assert [side["idf_from"]["sentences"] for side in corpus["sides"]] == [3, 500]
    assert (project.folder / TEXT).read_text().startswith("# Statistics of demo\n")
    # What comes after filter is not made again.
    assert project.planned("results/demo/eval.json", "results/demo/data.json") == set()

    # Filled by a script: nobody has judged these pairs.
    header, *rows = (project.folder / SHEET).read_text().splitlines()
    assert len(rows) == 10 * len(report["corpora"])
    tiny = (project.folder / "tiny.yaml").read_text()
    settings = tiny.replace("english.txt}", "english.txt}, labels: [{}]")
    (project.folder / "tiny.yaml").write_text(settings.replace("[{}]", f"[{SHEET}]"))
    assert "a run may write this file anew" in project.run(REPORT, check=False).output
    (project.folder / "tiny.yaml").write_text(settings.replace("[{}]", "[ann.tsv]"))
    (project.folder / "ann.tsv").write_text("\r\n".join([header, *(f"{row.rstrip()}\t3\t2" for row in rows)]))
    assert project.planned(REPORT) == {"filter", "stats"}
    before = (project.folder / SHEET).read_bytes()
    project.run(REPORT)
    labels = json.loads((project.folder / REPORT).read_text())["corpora"][0]["labels"]
    judged = labels["ranges"][0]["paraphrase"][0][2]  # a pair that both corpora have may stand on the other's sheet
    assert 10 <= judged <= 20 and labels == {
        "annotators": ["ann"],
        "ranges": [{"paraphrase": [[0, 0, judged]], "fluency": [[0, judged, 0]]}],
        "agreement": [],
    }
    assert (project.folder / SHEET).read_bytes() == before
