"""``psp --version``, and how little ``psp`` needs to start."""

import subprocess
import sys

import pytest

import psp
from psp.cli.main import main


def test_the_command_says_its_version(capsys):
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out == f"psp {psp.core.__version__}\n"


def test_the_help_needs_no_large_library():
    code = "import sys, psp.cli.main; psp.cli.main._parser('').format_help(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"numpy", "sentencepiece", "requests", "pydantic", "yaml", "torch"} & set(done.stdout.split())
