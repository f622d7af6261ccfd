"""What Snakemake itself offers of a workflow works with this one: lint, its graph, an archive, use as a module."""

import re
import subprocess
import tarfile

import pytest

EVAL = "results/demo/eval.json"
#: What the Snakefile justifies.
LINTS = {"Specify a conda environment or container for each rule.", "Mixed rules and functions in same snakefile."}
OUTER = """
configfile: "config/config.yaml"
configfile: "config/demo.yaml"

module psp:
    snakefile: "Snakefile"
    config: config

use rule * from psp as psp_*

rule last:
    default_target: True
    input: "results/demo/eval.json"
    output: "last.json"
    shell: "cp {input} {output}"
"""


def test_the_lint_has_nothing_to_say_but_what_is_justified(fresh):
    output = fresh.run("--lint", check=False).output
    assert set(re.findall(r"^    \* (.+?):?$", output, re.MULTILINE)) == LINTS


@pytest.mark.slow
def test_it_is_a_module_of_another_workflow(project):
    (project.folder / "outer.smk").write_text(OUTER)
    outer = ("--snakefile", "outer.smk", "--cores", "2")
    output = project.run_line(*outer, "--dry-run").output
    assert {"psp_download", "psp_train", "psp_evaluate", "last"} <= set(
        re.findall(r"^(\w+) +\d+$", output, re.MULTILINE)
    )
    project.run_line(*outer, "--", "results/phrasebook/truth.json")
    assert (project.folder / "results/phrasebook/truth.json").is_file()


@pytest.mark.slow
def test_it_is_archived_with_all_that_it_needs(project):
    git = ("git", "-c", "user.name=psp", "-c", "user.email=psp@example.org")
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "all")):
        subprocess.run([*git, *command], cwd=project.folder, check=True)
    project.run("--archive", "all.tar.gz", "--", EVAL)
    with tarfile.open(project.folder / "all.tar.gz") as file:
        names = set(file.getnames())
    assert {"Snakefile", "rules/train.smk", "workflow_scripts/train.py", "psp/training/loop.py"} <= names
