"""The scores of smaller tables as a target of the workflow."""

import pytest

from psp.core.files import read_json
from psp.evaluation import testsets
from psp.evaluation.quantize import measure

TARGET = "results/demo/quantized.json"


def test_the_scores_are_those_of_the_evaluation(finished):
    found = read_json(finished.folder / TARGET)
    evaluation = read_json(finished.folder / "results/demo/eval.json")
    assert found["model"] == "demo"
    assert found["whole"]["scores"] == {key: evaluation[key] for key in found["whole"]["scores"]}
    tables = [(table["dtype"], table["dim"]) for table in found["smaller"]]
    assert tables == [("float16", 16), ("int8", 16), ("float32", 8), ("float16", 8), ("int8", 8)]


def test_it_is_what_the_library_writes(finished, tmp_path):
    results = finished.folder / "results"
    tests = {
        "languages": ["en", "fr"],
        "tatoeba": {"fr": testsets.tatoeba_files(results / "downloads/tatoeba/phrasebook", "fr")},
        "files": {"phrasebook": results / "phrasebook/sts/phrasebook-test.tsv"},
    }
    measure(
        results / "demo/model", tmp_path / "quantized.json", name="demo",
        dtypes=["float32", "float16", "int8"], dims=[8], resamples=100, seed=1, **tests,
    )  # fmt: skip
    assert (tmp_path / "quantized.json").read_bytes() == (finished.folder / TARGET).read_bytes()


@pytest.mark.slow
def test_other_tables_are_measured_again_and_make_no_other_model(copy_of_finished):
    assert copy_of_finished.planned(TARGET) == set()
    copy_of_finished.edit("tiny.yaml", "dims: [8]", "dims: [4]")
    assert copy_of_finished.planned(TARGET, "results/demo/eval.json") == {"quantize"}
