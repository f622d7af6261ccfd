"""``psp push`` of what is no model; what it uploads is tested with the hub (tests/models/test_hub.py)."""

import pytest

from psp.cli.main import main


def test_a_folder_of_results_is_not_a_release(tmp_path, capsys):
    for folder in (tmp_path, tmp_path / "none"):
        with pytest.raises(SystemExit):
            main(["push", str(folder), "someone/fr"])
        said = capsys.readouterr().err
        assert said.count("\n") == 1 and f"{folder}: no folder of a model, or of a release" in said
        assert "make one with `snakemake ... results/<model>/release`" in said
