"""``psp.load_model("starter")``: the model of another distribution, installed, missing or damaged."""

from __future__ import annotations

import importlib
import shutil
from pathlib import Path

import pytest

import psp
from psp.cli.main import main
from psp.core.errors import DataError, PspError
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
    with pytest.raises(PspError, match=r"^starter: not installed; pip install paraphrastic-starter, or name"):
        psp.load_model("starter")
    with pytest.raises(SystemExit):
        main(["info", "starter"])
    assert "not installed; pip install paraphrastic-starter" in capsys.readouterr().err
