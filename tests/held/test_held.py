"""What no change of the code may change: models of before load and embed as they did, and training gives their bytes.

The fixtures were made by make.py, before the reorganisation of the kinds; make them anew only where it is meant.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from psp.core.versions import VERSION
from psp.models.scores import compared_metrics
from tests.held import make, resolved, stages

EXPECTED = json.loads(make.EXPECTED.read_text("utf-8"))


@pytest.mark.parametrize("name", EXPECTED["folders"])
def test_a_model_folder_of_before_embeds_as_it_did(name):
    if name == "transformer":
        pytest.importorskip("sentence_transformers", reason="not installed (pip install 'paraphrastic[transformer]')")
    np.testing.assert_allclose(make.vectors(make.FIXTURES / name), EXPECTED["folders"][name], atol=2e-5)


@pytest.mark.parametrize("kind", make.TRAINED)
def test_training_gives_the_same_model(kind, tmp_path):
    folder = make.train(kind, tmp_path / "model")
    expected = EXPECTED["trained"][kind]
    np.testing.assert_allclose(make.vectors(folder), expected["vectors"], atol=1e-3)
    found = make.digests(folder)
    if make.processor() != EXPECTED["processor"]:  # sums are rounded otherwise: the text files alone are the same
        found.pop("model.safetensors"), expected["digests"].pop("model.safetensors")
    assert found == expected["digests"]


@pytest.mark.parametrize(
    ("sample", "recipe"),
    [
        ("demo", "psp"),
        pytest.param("demo", "paper", marks=pytest.mark.slow),
        pytest.param("real", "psp", marks=pytest.mark.slow),
        pytest.param("real", "paper", marks=pytest.mark.slow),
    ],
)
def test_every_stage_makes_what_it_made(sample, recipe, tmp_path):
    if sample == "real" and stages.data() is None:
        pytest.skip("PSP_DATA is not set: the folder of real data")
    found, body = stages.run(sample, recipe, tmp_path / "run"), json.loads(stages.EXPECTED.read_text("utf-8"))
    expected = body[f"{sample} {recipe}"]
    assert found["weights"]["model"] == found["weights"]["resumed"]
    np.testing.assert_allclose(found.pop("vectors"), expected.pop("vectors"), atol=1e-3)
    figures, before = found.pop("figures"), expected.pop("figures")
    assert figures == pytest.approx(before, abs=0.3)
    if make.processor() != body["processor"]:
        found.pop("weights"), expected.pop("weights")
    assert found == expected


#: Rules whose files are not compared by their bytes, since machines and libraries change them: figures of models, whose
#: own tests compare them with the libraries' functions; measured times; translators; pages and pictures.
NOT_HELD = {
    "train_transformer", "combine", "translator", "backtranslate", "teach", "piece_vectors", "task",
    "evaluate_combined", "system", "compare", "variants", "quantize", "examples", "speed", "stats", "data",
    "card", "curve", "variant_curves", "report", "report_several", "release", "release_zip", "summary",
}  # fmt: skip


def test_what_a_stage_makes_stands_beside_its_version():
    held = json.loads(stages.EXPECTED.read_text("utf-8"))["versions"]
    assert held == {rule: VERSION[rule] for rule in held}, "python -m tests.held.stages writes the hashes anew"
    assert VERSION.keys() - held.keys() == NOT_HELD
    stages_before = {"dedupe a": "1", "mix": "1", "store": {}, "rank": "1", "pivot": "1"}
    before = {"versions": {"mix": 1, "dedupe": 0, "rank": 0, "pivot": 1}, "demo psp": stages_before}
    for now, wrong in (
        ({}, set()),
        ({"mix": "2"}, {"mix"}),
        ({"mix": "2", "store": {"ids": "2"}}, {"mix"}),  # the store follows
        ({"dedupe a": "2", "mix": "2", "pivot": "2"}, set()),  # dedupe's version was raised
        ({"rank": "2", "pivot": "2"}, {"pivot"}),  # rank's was
    ):
        assert stages.unraised(before, {"demo psp": {**before["demo psp"], **now}}) == wrong


def test_the_figures_of_a_real_model():
    if not (folder := os.environ.get("PSP_FR_SMALL")):
        pytest.skip("PSP_FR_SMALL is not set: the folder of results of config/sample.yaml's fr-small, which CI makes")
    body = json.loads(Path(folder, "eval.json").read_text("utf-8"))
    figures = compared_metrics(body)
    names = {"sts": "sts", "stsb": "stsb/test", "tatoeba": "tatoeba/fra-eng"}
    for name, value in make.FR_SMALL.items():
        assert abs(figures[names[name]] - value) <= 0.3, (name, figures[names[name]], value)


def test_every_model_of_every_config_is_resolved_as_before():
    held = resolved.unpacked(json.loads(resolved.FIXTURE.read_text("utf-8")))
    found = resolved.models()
    assert set(held) - set(found) == set(), "a model went"
    for name, before in held.items():
        now = found[name]
        assert {key: now[key] for key in before if key in now} == {key: before[key] for key in before if key in now}
        for key in set(before) - set(now):
            assert key in resolved.GONE, f"{name} has no {key} any more, and tests/held/resolved.py does not say why"
            constant = resolved.GONE[key]
            assert isinstance(constant, resolved.Removed) or before[key] == constant, (name, key)
