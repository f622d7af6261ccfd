"""One model's part of a config."""

from pathlib import Path

import pytest
import yaml

from psp.config.config import Config
from psp.config.resolved import as_yaml, resolved

ROOT = Path(__file__).parents[2]
BASE = ROOT / "config/config.yaml"
CONFIGS = [
    (),
    ("sample",),
    ("sample", "mined"),
    ("sample", "translated"),
    ("sample", "text"),
    ("sample", "polish"),
    ("sample", "encoders"),
    ("sample", "taught"),
    ("sample", "dadas"),
    ("demo",),
]


@pytest.mark.parametrize("names", CONFIGS, ids="+".join)
def test_every_model_of_our_configs_comes_out_the_same(names, monkeypatch, tmp_path):
    monkeypatch.setenv("PSP_DATA", str(tmp_path))
    files = [BASE, *(ROOT / f"config/{name}.yaml" for name in names)]
    config = Config.load(files)
    for name in yaml.safe_load(files[-1].read_text(encoding="utf-8"))[
        "models"
    ]:  # those of the others have had their turn
        again = tmp_path / f"{name}.yaml"
        again.write_text(as_yaml(config, name), encoding="utf-8")
        assert Config.load([BASE, again]).model(name) == config.model(name), name


def test_it_is_of_one_model_and_those_that_it_needs(monkeypatch, tmp_path):
    monkeypatch.setenv("PSP_DATA", str(tmp_path))
    config = Config.load([BASE, ROOT / "config/sample.yaml", ROOT / "config/mined.yaml"])
    assert set(resolved(config, "fr")["models"]) == {"fr"}
    assert set(resolved(config, "pl-mined-wide")["models"]) == {
        "pl-mined-wide",
        "pl-mined",
        "en-mined",
        *["fr", "de", "zh", "tr", "ar", "pl"],
    }
    assert "Bible" in resolved(config, "pl")["corpora"] and "Quran" not in resolved(config, "pl")["corpora"]


def test_paths_are_as_they_were_written(monkeypatch, tmp_path):
    monkeypatch.setenv("PSP_DATA", str(tmp_path))
    text = as_yaml(Config.load([BASE, ROOT / "config/sample.yaml"]), "fr")
    assert str(tmp_path) not in text and "${PSP_DATA}" in text
    settings = yaml.safe_load(text)["models"]["fr"]
    assert settings["train"]["dim"] == 1024 and settings["recipe"] == "psp"
