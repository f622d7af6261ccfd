"""The rule `inspect` and its command, on the demo's corpora."""

import json
import subprocess
import sys

import pytest

PAGE, REPORT = "results/demo/inspect.html", "results/demo/inspect.json"


@pytest.mark.slow
def test_corpora_are_looked_at_before_anything_else_is_made(fresh, downloaded):
    """From nothing: only what is downloaded is there besides."""
    assert fresh.planned(PAGE) == {"phrasebook", "download", "inspect"}
    project = downloaded
    assert project.planned(PAGE) == {"inspect"}
    command = [sys.executable, "-c", "from psp.cli.main import main; main()", "inspect", "demo", "--cores", "2",
               "--configfile", "config/demo.yaml", "tiny.yaml"]  # fmt: skip
    done = subprocess.run(command, cwd=project.folder, env=project.environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("demo: ") and "Phrasebook.en-fr" in done.stdout
    report = json.loads((project.folder / REPORT).read_text())
    assert {"files/phrasebook", "Tatoeba fra-eng", "development"} == {
        one["set"] for one in report["corpora"][0]["tests"]
    }
    # The demo's noise: a tenth of its lines are in another language, shifted, too short and so on.
    assert report["corpora"][0]["pairs"]["words"]["own"] > 0.8
    assert not list((project.folder / "results/demo").glob("pairs/*"))

    # Again, nothing is made; a setting makes it again, and so does the template.
    assert project.planned(PAGE) == set()
    before = (project.folder / PAGE).read_bytes()
    (project.folder / PAGE).unlink()
    project.run(PAGE)
    assert (project.folder / PAGE).read_bytes() == before
    with (project.folder / "tiny.yaml").open("a") as file:
        file.write("inspect: {pairs: 200}\n")
    assert project.planned(PAGE) == {"inspect"}
    project.run(PAGE)
    assert json.loads((project.folder / REPORT).read_text())["corpora"][0]["sampled"] == 200

    # Errors are a line.
    command[4] = "dem"
    done = subprocess.run(command, cwd=project.folder, env=project.environment, capture_output=True, text=True)
    assert done.returncode == 1 and "did you mean demo" in done.stderr.splitlines()[-1]
    tiny = (project.folder / "tiny.yaml").read_text()
    (project.folder / "tiny.yaml").write_text(tiny.replace("{pairs: 200}", "{encoder: no/such}"))
    output = project.run(PAGE, check=False).output
    assert "no/such: no such file or folder, but models.demo.inspect.encoder names it" in output


@pytest.mark.slow
def test_inspecting_is_planned_without_the_filters(finished):
    assert finished.planned(PAGE) == {"inspect"}
