"""Training in two processes through Snakemake: the same model, and none trained again for it."""

import pytest

EVAL = "results/demo/eval.json"


@pytest.mark.slow
def test_keys_that_contradict_each_other_end_the_run_with_one_line(project):
    project.edit("tiny.yaml", "anneal: 4}", "anneal: 4, processes: 2, gpus: 2}")
    result = project.run("--dry-run", "--", EVAL, check=False)
    assert result.returncode != 0
    assert "error: models.demo.train: processes is 2 and gpus is 2" in result.output
    assert "Traceback" not in result.output and len(result.output.splitlines()) < 8
