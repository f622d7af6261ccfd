"""``psp --version``."""

import pytest

import psp
from psp.cli.main import main


def test_the_command_says_its_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"psp {psp.core.version.__version__}\n"
