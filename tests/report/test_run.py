"""A model's results, as far as they are there."""

import pytest

from psp.core.errors import DataError
from psp.models.folder import load
from psp.pairs.store import Store
from psp.report.run import Run, kept_pairs
from tests.report.conftest import rewrite


def test_what_is_missing_is_named(results):
    run = Run.load(results)
    assert run.name == "fr" and "eval" in run and "speed" not in run and run.size > 0
    assert [file for file, _ in run.missing] == ["train/train.json"]
    for name in ("compare.json", "data.json"):
        (results / name).unlink()
    assert [file for file, _ in Run.load(results).missing] == ["data.json", "train/train.json", "compare.json"]


def test_only_the_files_that_are_given_are_read(results):
    run = Run.load(results, [results / "eval.json", results / "model/config.json"])
    assert set(run.found) == {"eval"} and run.config is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda folder: (folder / "eval.json").write_text("{"), r"eval\.json"),
        (lambda folder: (folder / "eval.json").write_text("{}"), r"eval\.json: has format None"),
        (
            lambda folder: rewrite(folder / "data.json", model="de"),
            r"results of several models: eval\.json of fr, data\.json of de",
        ),
    ],
)
def test_a_broken_or_foreign_file_is_refused(results, change, said):
    change(results)
    with pytest.raises(DataError, match=said):
        Run.load(results)


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(DataError, match=r"neither eval\.json nor data\.json.*snakemake"):
        Run.load(tmp_path)


def test_kept_pairs_are_the_stores_first_of_each_corpus(results):
    found = kept_pairs(results / "store.h5", results / "model", 4)
    tokenizer = load(results / "model").tokenizer
    with Store(results / "store.h5") as store:
        block = store.read(0, 4)
    assert found == {"Made": list(zip(tokenizer.decode(block.source), tokenizer.decode(block.target), strict=True))}
    assert len(kept_pairs(results / "store.h5", results / "model", 10**6)["Made"]) == 600
