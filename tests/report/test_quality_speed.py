"""The picture of quality against speed: benchmarks/quality_speed.py."""

from __future__ import annotations

import importlib.util
import json
import sys
import zipfile
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from matplotlib.text import Text

from psp.core.errors import DataError
from psp.evaluation import testsets
from psp.evaluation.evaluate import EmbeddingScorer, evaluate
from psp.evaluation.speed.systems import OWN, Spec
from psp.models.scores import main_metrics
from psp.models.static import StaticModel
from tests.conftest import write_model

ROOT = Path(__file__).parents[2]
NUMBA, NUMPY = "psp float32, numba", "psp float32, NumPy"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("quality_speed", ROOT / "benchmarks/quality_speed.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def rates(median):
    return {"median": median, "min": 0.9 * median, "max": 1.2 * median, "passes": [median], "unit": "sentences/s"}


def scored(value):
    pearson = {"value": value, "interval": [value and value - 0.5, value and value + 0.5], "label": "", "unit": ""}
    part = {"items": 10, "figures": {"pearson": {**pearson, "higher_is_better": True}}, "test": "STS", "further": {}}
    return {"tasks": {"sts": {"parts": {"average": part}}}}


def results(folder, value=70.0, cpu="A processor", **speeds):
    """A model's eval.json and speed.json, as far as the picture reads them."""
    folder.mkdir(parents=True)
    (folder / "eval.json").write_text(json.dumps(scored(value)))
    systems = [
        {"name": name, "cores": cores, "cold": rates(speed * cores), "sentences": 100 if name == "MiniLM" else 9000}
        | {"dim": 384 if name == "MiniLM" else 64}
        for name, speed in speeds.items()
        for cores in (1, 2)
    ]
    conditions = {"cpu": cpu, "repeats": 3, "dim": 64, "vocab_size": 8000, "mean_pieces": 13.68, "load_before": None}
    conditions |= {"load_after": None, "versions": {"psp": "0"}}
    speed = {"sentences": 9000, "systems": systems, "conditions": conditions}
    (folder / "speed.json").write_text(json.dumps(speed))
    return folder


SPEEDS = {NUMBA: 150_000, NUMPY: 60_000, "psp int8, numba": 170_000, "model2vec": 12_000, "MiniLM": 120}


def peers(folder, **systems):
    body = {"model": "fr", "systems": {name: scored(value) for name, value in systems.items()}, "versions": {"a": "1"}}
    body["missing"] = [{"name": "USE", "why": "not installed"}]
    (folder / "peers.json").write_text(json.dumps(body))
    return folder / "peers.json"


def run(script, monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["quality_speed.py", *map(str, arguments)])
    script.main()


def test_the_numbers_come_from_the_files_alone(script, tmp_path, monkeypatch, capsys):
    models = [results(tmp_path / "fr", 69.5, **SPEEDS), results(tmp_path / "en", 68.25, **{NUMBA: 140_000})]
    others = peers(tmp_path, MiniLM=74.0, model2vec=69.5)
    run(script, monkeypatch, *models, "--peers", others, "--out", tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads((tmp_path / "picture.json").read_text())
    places = {point["name"]: (point["kind"], point["speed"], point["quality"]) for point in found["points"]}
    assert places == {
        "psp, fr": ("psp", 150_000, 69.5),
        "psp, fr, NumPy alone": ("psp", 60_000, 69.5),
        "psp, en": ("psp", 140_000, 68.25),
        "MiniLM": ("other", 120, 74.0),
        "psp, fr (model2vec)": ("table", 12_000, 69.5),
    }
    said = capsys.readouterr().out
    assert "median of 3 runs" in said and "A processor; 9,000 sentences of 13.7 subwords" in said
    assert "MiniLM: 100" in said and "Not measured: USE." in said


def test_each_point_has_a_name_of_its_own_place(script, tmp_path):
    crowded = {name: 100_000 + number for number, name in enumerate([NUMBA, NUMPY, "model2vec", "ONNX export"])}
    model = results(tmp_path / "fr", **crowded)
    others = json.loads(peers(tmp_path, **{"model2vec": 70.0, "ONNX export": 70.0}).read_text())
    result = script.gather([model], others)
    figure = script.picture(result)
    figure.canvas.draw()
    names = {point["name"] for point in result["points"]}
    boxes = [Text.get_window_extent(text) for text in figure.findobj(Text) if text.get_text() in names]
    assert len(boxes) == 4
    assert not any(one.overlaps(other) for one in boxes for other in boxes if one is not other)
    (panel,) = figure.axes
    assert panel.get_xscale() == "log"


def test_without_scores_of_peers_psp_stands_alone(script, tmp_path):
    result = script.gather([results(tmp_path / "fr", **SPEEDS)], None)
    assert {point["kind"] for point in result["points"]} == {"psp"}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"value": None}, "no mean Pearson on STS 2012-2016"),
        ({"cpu": "Another"}, "another processor"),
    ],
)
def test_what_cannot_stand_in_one_picture_is_an_error(script, tmp_path, changed, said):
    first = results(tmp_path / "fr", **SPEEDS)
    with pytest.raises(DataError, match=said):
        script.gather([first, results(tmp_path / "en", **changed, **SPEEDS)], None)


def test_scores_that_belong_to_another_models_exports_are_an_error(script, tmp_path):
    other = results(tmp_path / "de", **SPEEDS)
    with pytest.raises(DataError, match="scored with the model fr"):
        script.gather([other], json.loads(peers(tmp_path, MiniLM=74.0).read_text()))


def test_a_score_without_a_speed_is_named(script, tmp_path):
    model = results(tmp_path / "fr", **{NUMBA: 1000})
    found = script.gather([model], json.loads(peers(tmp_path, MiniLM=74.0).read_text()))
    assert [one["name"] for one in found["missing"]] == ["USE", "MiniLM"]


def test_other_systems_are_scored_as_psp_is(script, tmp_path, monkeypatch):
    """A peer with psp's vectors gets psp's score; one that is not there is named."""
    archive = tmp_path / "STS.zip"
    rng = np.random.default_rng(1)
    words = ["a", "red", "car", "une", "voiture", "rouge", "the", "cat", "house", "le", "chat", "maison"]
    with zipfile.ZipFile(archive, "w") as file:
        for year, names in testsets.YEARS.items():
            for name in names:
                pairs = "".join("\t".join(" ".join(rng.choice(words, 5)) for _ in "ab") + "\n" for _ in range(12))
                file.writestr(f"STS{year[2:]}-en-test/STS.input.{name}.txt", pairs)
                gold = "".join(f"{number}\n" for number in rng.integers(0, 5, 12))
                file.writestr(f"STS{year[2:]}-en-test/STS.gs.{name}.txt", gold)

    def copy(spec, folder, cores):
        model = StaticModel.load(tmp_path / "fr/model")
        return lambda: (lambda texts: 2 * model.embed_raw_text(texts), None)

    monkeypatch.setitem(script.KINDS, "copy", copy)
    specs = [Spec("copy", "copy", "NumPy"), Spec("absent", "USE", "", needs=("no_such_module",))]
    (tmp_path / "fr").mkdir()
    write_model(tmp_path / "fr", dim=8)
    out = script.measure(tmp_path / "fr", archive, tmp_path / "peers.json", specs)
    assert json.loads((tmp_path / "peers.json").read_text()) == out
    assert [one["name"] for one in out["missing"]] == ["absent"]
    own = evaluate(EmbeddingScorer(StaticModel.load(tmp_path / "fr/model")), languages=["en"], sts=archive)
    assert out["systems"]["copy"]["tasks"]["sts"] == own["tasks"]["sts"]
    assert main_metrics(own)["sts"] is not None


def test_the_systems_drawn_are_systems_that_are_measured(script):
    assert set(script.OURS) <= set(OWN)
    assert all(not spec.gpu and spec.kind != "psp" for spec in script.OTHERS)


def test_the_readmes_caption_is_that_of_its_numbers(script):
    readme = " ".join((ROOT / "README.md").read_text().split())
    numbers = json.loads((ROOT / "docs/quality_speed.json").read_text())
    assert script.caption(numbers) in readme
