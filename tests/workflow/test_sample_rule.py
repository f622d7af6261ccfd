"""Studies of a model's pairs through Snakemake: which points there are, what one is trained on, what is said."""

import pytest

from psp.core import schemas
from psp.core.files import read_json

STUDIES = """
    deciles: {by: [length], encoders: [word, subword], seeds: [1, 2], epochs: 1, pairs: 50}
    by_corpus: {encoders: [word], seeds: [1], epochs: 1}
"""


@pytest.fixture
def studying(copy_of_finished):
    copy_of_finished.edit(
        "tiny.yaml", "    subword: {vocab_size: 600}\n", f"{STUDIES[1:]}    subword: {{vocab_size: 600}}\n"
    )
    return copy_of_finished


@pytest.mark.slow
def test_corpora_are_compared_on_as_many_pairs_of_each(studying):
    counts = studying.jobs("results/demo/tenths.png", "results/demo/by_corpus.json")
    assert (counts["deciles_pairs"], counts["deciles_all"], counts["by_corpus_pairs"]) == (1, 1, 2)
    assert counts["sample"] == 11 * 2 * 2 + 2 and counts["sample_vocabulary"] == 1
    assert not counts.keys() & {"store", "train", "evaluate"}

    target, point = "results/demo/by_corpus.json", "results/demo/samples/tenths/length-10/subword/2/train.json"
    studying.run("--config", "keep_intermediate=true", "--", target, point)
    folder = studying.folder / "results/demo"
    result, trained = read_json(folder / "by_corpus.json"), read_json(studying.folder / point)
    schemas.check(result, "by_corpus")
    found = {one["label"]: one["pairs"] for one in result["corpora"]}
    for label, pairs in found.items():
        assert pairs == read_json(folder / f"pairs/dedupe/{label}.json")["kept"]
    assert len(found) == 2 and result["pairs"] == min(found.values())
    one = read_json(folder / f"samples/by_corpus/{min(found)}/word/1/train.json")
    assert one["store_pairs"] == result["pairs"] and one["best"]["pairs_heldout"] == 0
    # A decile by length: the longest pairs, as many as are asked for.
    assert (trained["store_pairs"], trained["settings"]["seed"], trained["settings"]["epochs"]) == (50, 2, 1)
    report = read_json(folder / "samples/tenths/length.json")
    schemas.check(report, "sample")
    assert report["samples"][9] == {"name": "length-10", "pairs": 50}
    lengths = [len(line.split()) / 2 for line in (folder / "samples/tenths/length-10.tsv").read_text().splitlines()]
    assert min(lengths) >= min(one["bounds"][9]["low"] for one in report["corpora"])

    # A point more is a point more.
    keep = ("--config", "keep_intermediate=true", "--")
    assert studying.planned(*keep, target, point) == set()
    studying.edit("tiny.yaml", "encoders: [word], seeds: [1]", "encoders: [word], seeds: [1, 2]")
    assert studying.jobs(*keep, target) == {"sample": 2, "by_corpus": 1}


@pytest.mark.slow
def test_a_study_that_cannot_be_made_ends_before_anything_runs(project):
    for target, block, words in (
        ("tenths.json", "tenths: {by: [score]}", "models.demo.corpora: deciles.by is score, but OPUS's corpora"),
        ("by_corpus.json", "by_corpus: {corpora: [Other]}", "models.demo.by_corpus.corpora: Other is not a corpus of"),
        ("samples/tenths/all.tsv", "development: {sts: null}", "models.demo.development: sts is null, but deciles"),
    ):
        text = (project.folder / "tiny.yaml").read_text()
        own = text.replace("    development: {heldout: 100}\n", "") if block.startswith("dev") else text
        (project.folder / "tiny.yaml").write_text(own.replace("  demo:\n", f"  demo:\n    {block}\n"))
        result = project.run("--dry-run", "--", f"results/demo/{target}", check=False)
        (project.folder / "tiny.yaml").write_text(text)
        assert result.returncode != 0 and f"error: {words}" in result.output, result.output
        assert "Traceback" not in result.output and len(result.output.splitlines()) < 8
