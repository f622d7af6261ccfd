"""``psp.load_model("starter")``: the model of another distribution, installed, missing or damaged."""

from __future__ import annotations

import importlib
import shutil
import tomllib
from pathlib import Path

import pytest

import psp
from psp.cli.main import main
from psp.core.errors import DataError, PspError
from psp.core.files import sha256
from psp.models.starter import PACKAGE


@pytest.fixture
def installed(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The model's folder in an installed starter."""
    package = tmp_path / "site" / PACKAGE
    shutil.copytree(folder, package / "model")
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(package.parent)
    importlib.invalidate_caches()
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return package / "model"


def test_it_is_found_by_its_name(installed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("starter").mkdir()  # as in a checkout
    assert (psp.load_model("starter").encode("a cat") == psp.load_model(installed).encode("a cat")).all()
    Path("lines").write_text("a cat\ta cat\n")
    main(["score", "starter", "lines"])
    assert capsys.readouterr().out == "a cat\ta cat\t1.0000\n"
    shutil.copytree(installed, "starter", dirs_exist_ok=True)
    shutil.rmtree(installed)
    assert psp.load_model("starter").dim  # a folder that holds a model is that model


def test_missing_or_damaged_it_says_so_in_a_line(
    installed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    weights = installed / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"?")
    with pytest.raises(DataError, match=r"damaged, .*; or: pip install --force-reinstall paraphrastic-starter$"):
        psp.load_model("starter")
    config = installed / "config.json"
    config.write_text(config.read_text().replace('"format": 1', '"format": 9'))
    with pytest.raises(DataError, match=r"format 9, but this psp reads 1; .*pip install --force-reinstall"):
        psp.load_model("starter")
    monkeypatch.setattr("psp.models.starter.PACKAGE", "no_such_package")
    with pytest.raises(PspError, match=r"^starter: not installed; pip install paraphrastic-starter, or \./starter"):
        psp.load_model("starter")
    with pytest.raises(SystemExit):
        main(["info", "starter"])
    assert "not installed; pip install paraphrastic-starter" in capsys.readouterr().err


SOURCE = Path(__file__).parents[2] / "starter"
MODEL = SOURCE / PACKAGE / "model"
#: One sentence in each of its languages, and another.
CAR = {
    "ar": "اشترت سيارة حمراء.", "de": "Sie hat ein rotes Auto gekauft.", "en": "She bought a red car.",
    "es": "Ella compró un coche rojo.", "fr": "Elle a acheté une voiture rouge.", "pl": "Kupiła czerwony samochód.",
    "ru": "Она купила красную машину.", "tr": "Kırmızı bir araba satın aldı.", "zh": "她买了一辆红色的车。",
}  # fmt: skip
STATION = {
    "ar": "أين المحطة؟", "de": "Wo ist der Bahnhof?", "en": "Where is the station?",
    "es": "¿Dónde está la estación?", "fr": "Où est la gare ?", "pl": "Gdzie jest dworzec?",
    "ru": "Где находится вокзал?", "tr": "İstasyon nerede?", "zh": "车站在哪里?",
}  # fmt: skip


def test_the_committed_starter_is_whole_and_small() -> None:
    sums = dict(reversed(line.split("  ")) for line in (MODEL / "SHA256SUMS").read_text().splitlines())
    assert {name for name in sums if sha256(MODEL / name) != sums[name]} == set()
    assert {path.name for path in MODEL.iterdir()} == {*sums, "README.md", "SHA256SUMS"}
    assert sum(path.stat().st_size for path in MODEL.iterdir()) <= 15e6
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text())["project"]
    assert f'license_name: "{project["license"]}"\n' in (MODEL / "README.md").read_text()


def test_sentences_of_its_languages_find_each_other() -> None:
    model = psp.load_model(MODEL)
    assert sorted(model.config["languages"]) == sorted(CAR)
    cosines = model.similarity(model.encode(list(CAR.values())), model.encode([*CAR.values(), *STATION.values()]))
    assert (cosines[:, : len(CAR)].min(axis=1) > cosines[:, len(CAR) :].max(axis=1)).all()


def test_a_text_in_no_language_of_its_own_is_said_to_be_unknown() -> None:
    model = psp.load_model(MODEL)
    thai = "สวัสดีครับ"
    assert model.unknown_shares([thai, CAR["en"]]).tolist() == [1, 0]
    assert model.score_raw_text([(thai, CAR["en"]), (thai, thai)]) == [0, 0]
