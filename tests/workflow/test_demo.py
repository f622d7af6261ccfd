"""The demo as it is: what the README promises of it."""

import json
import os
from pathlib import Path

import pytest

from psp.models.scores import compared_metrics


@pytest.mark.slow
def test_the_demo_beats_all_that_needs_no_training(request):
    """On the results of a ``make demo`` that PSP_DEMO names, as CI has run it; else on a run of its own."""
    if "PSP_DEMO" in os.environ:
        folder = Path(os.environ["PSP_DEMO"])
    else:
        project = request.getfixturevalue("project")
        project.run("results/demo/eval.json", "results/demo/compare.json", configs=("config/demo.yaml",))
        folder = project.folder / "results/demo"
    systems = json.loads((folder / "compare.json").read_text())["systems"]
    scores = {name: compared_metrics(body) for name, body in systems.items()}
    pearson = {name: found["files/phrasebook"] for name, found in scores.items()}
    trained = pearson.pop("trained")
    assert len(pearson) == 3
    assert trained >= max(pearson.values()) + 10
    for direction in ("fra-eng", "eng-fra"):
        error = {name: found[f"tatoeba/{direction}"] for name, found in scores.items()}
        trained = error.pop("trained")
        assert trained <= min(error.values()) / 2
