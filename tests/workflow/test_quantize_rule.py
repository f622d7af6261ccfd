"""The scores of smaller tables as a target of the workflow."""

import pytest

from psp.evaluation import testsets
from psp.evaluation.quantize import measure

TARGET = "results/demo/quantized.json"
FORMATS = ["float32", "float16", "int8", "int4"]

pytestmark = pytest.mark.slow  # its run


def test_it_is_what_the_library_writes(compared, tmp_path):
    results = compared.folder / "results"
    tests = {
        "languages": ["en", "fr"],
        "tatoeba": {"fr": testsets.tatoeba_files(results / "downloads/tatoeba/phrasebook", "fr")},
        "files": {"phrasebook": results / "phrasebook/sts/phrasebook-test.tsv"},
    }
    measure(
        results / "demo/model", tmp_path / "quantized.json", name="demo",
        dtypes=FORMATS, dims=[8], resamples=100, seed=1, **tests,
    )  # fmt: skip
    assert (tmp_path / "quantized.json").read_bytes() == (compared.folder / TARGET).read_bytes()


def test_other_tables_are_measured_again_and_make_no_other_model(compared, tmp_path):
    copy = compared.copy(tmp_path / "copy")
    assert copy.planned(TARGET) == set()
    copy.edit("tiny.yaml", "dims: [8]", "dims: [4]")
    assert copy.planned(TARGET, "results/demo/eval.json") == {"quantize"}
