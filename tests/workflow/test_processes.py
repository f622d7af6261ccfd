"""Training in two processes through Snakemake: the same model, and none trained again for it."""

import csv

import numpy as np
import pytest

from psp.core import schemas
from psp.core.files import read_json
from psp.models.model import load_model

EVAL = "results/demo/eval.json"


@pytest.mark.slow
def test_two_processes_train_what_one_does(finished, copy_of_finished):
    copy_of_finished.edit("tiny.yaml", "anneal: 4}", "anneal: 4, processes: 2}")
    assert copy_of_finished.planned(EVAL) == set()  # no other model
    copy_of_finished.run("--forcerun", "train", "--", EVAL)
    before, after = (workflow.folder / "results/demo" for workflow in (finished, copy_of_finished))
    report = read_json(after / "train/train.json")
    schemas.check(report, "train")
    assert (report["processes"], report["threads"]) == (2, 2)
    assert "train.processes" not in read_json(after / "eval.json")["differences"]
    weights = [load_model(folder / "model").weight for folder in (before, after)]
    # Sums in another order; Adam's first steps are as large as its learning rate of 0.05 however small a gradient is.
    np.testing.assert_allclose(*weights, rtol=0, atol=2e-3)
    curves = [csv.DictReader((folder / "train/metrics.csv").read_text().splitlines()) for folder in (before, after)]
    for one, two in zip(*curves, strict=True):
        assert float(two.pop("loss")) == pytest.approx(float(one.pop("loss")), abs=1e-4)
        assert one == two
    assert copy_of_finished.planned(EVAL) == set()


@pytest.mark.slow
def test_keys_that_contradict_each_other_end_the_run_with_one_line(project):
    project.edit("tiny.yaml", "anneal: 4}", "anneal: 4, processes: 2, gpus: 2}")
    result = project.run("--dry-run", "--", EVAL, check=False)
    assert result.returncode != 0
    assert "error: models.demo.train: processes is 2 and gpus is 2" in result.output
    assert "Traceback" not in result.output and len(result.output.splitlines()) < 8
