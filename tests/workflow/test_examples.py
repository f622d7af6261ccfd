"""The examples run, as their page says, on the demo's model."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PAIRS

EXAMPLES = Path(__file__).parents[2] / "examples"
COMMANDS = re.findall(r"^python (.*)$", (EXAMPLES / "README.md").read_text(encoding="utf-8"), re.MULTILINE)


@pytest.fixture
def texts(tmp_path):
    english, french = zip(*PAIRS[:60], strict=True)
    files = {
        "corpus.txt": [*english[:20], english[0] + "."],
        "english.txt": english,
        "french.txt": reversed(french),
        "labelled.tsv": [f"{'long' if len(text) > 25 else 'short'}\t{text}" for text in english[:40]],
        "new.txt": english[40:],
    }
    for name in ("corpus.txt", "new.txt", "english.txt"):  # what str.splitlines() takes for the end of a line
        first, second, *others = files[name]
        files[name] = [first, second.replace(" ", " \x85\u2028", 1), *others]
    for name, lines in files.items():
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return tmp_path


def run(code, folder, environment):
    done = subprocess.run([sys.executable, *code], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return [line for line in done.stdout.split("\n") if line]


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: command.split()[0].rpartition("/")[2])
def test_a_script_does_what_its_page_says(command, finished, texts):
    pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")
    (texts / "results").symlink_to(finished.folder / "results")
    script, *arguments = shlex.split(command)
    if "translations" in script:  # the tests' model is a weak one
        arguments += ["--threshold", "1"]
    lines = run([EXAMPLES / Path(script).name, *arguments], texts, finished.environment)
    assert lines and "usage" in run([EXAMPLES / Path(script).name, "--help"], texts, finished.environment)[0]
    if "classify" in script:
        assert len(lines) == 20 and {line.split("\t")[0] for line in lines} <= {"long", "short"}
    if "duplicates" in script:
        assert lines[0].split("\t")[1:] == [PAIRS[0][0], PAIRS[0][0] + "."]


def test_the_page_names_every_example():
    assert {command.split()[0] for command in COMMANDS} == {f"examples/{path.name}" for path in EXAMPLES.glob("*.py")}
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert all(f"`{path.name}`" in page for path in EXAMPLES.glob("*.ipynb"))


def test_the_notebook_runs_and_is_kept_without_output(finished):
    pytest.importorskip("faiss", reason="faiss is not installed (the extra search)")
    cells = json.loads((EXAMPLES / "tour.ipynb").read_text(encoding="utf-8"))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert len(code) > 5 and not any(cell.get("outputs") for cell in cells)
    run(["-c", "\n".join(code)], finished.folder, finished.environment)
