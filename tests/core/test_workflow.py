"""Where the workflow is. What a wheel has is tested in tests/workflow/test_dist.py."""

from pathlib import Path

import pytest

from psp.core import workflow
from psp.core.errors import PspError


def test_a_checkout_has_it_at_its_top_a_wheel_within_the_package(tmp_path, monkeypatch):
    assert workflow.home() == Path(__file__).parents[2]
    monkeypatch.setattr(workflow, "PACKAGE", tmp_path / "psp")
    with pytest.raises(PspError, match="has no workflow beside it"):
        workflow.home()
    for folder in (tmp_path, tmp_path / "psp/workflow"):
        (folder / "config").mkdir(parents=True)
        (folder / "Snakefile").touch()
        assert not workflow.is_home(folder)
        (folder / "config/config.yaml").touch()
        assert workflow.home() == folder
