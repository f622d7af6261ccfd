"""How many cores Snakemake may use is no part of a model."""

import pytest

MODEL = "results/demo/model/model.safetensors"
SUBWORD = "results/demo/sentencepiece.model"


@pytest.mark.slow
def test_one_core_makes_the_model_that_two_make(finished, copy_of_finished):
    copy_of_finished.run("--cores", "1", "--forcerun", "subword", "train", "--", MODEL)
    for file in (SUBWORD, "results/demo/store.h5", MODEL, "results/demo/train/train.json"):
        assert (copy_of_finished.folder / file).read_bytes() == (finished.folder / file).read_bytes(), file
