"""Rules are declarations, complete ones; profiles explain themselves."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml

from psp.config import rates
from tests.workflow.conftest import declared

ROOT = Path(__file__).parent.parent.parent


RULES = {name: body for file in sorted((ROOT / "rules").glob("*.smk")) for name, body in declared(file)}
#: Rules that are another one with other outputs.
DERIVED = {
    name: body
    for file in sorted((ROOT / "rules").glob("*.smk"))
    for name, body in re.findall(r"^use rule \w+ as (\w+) with:\n((?:(?:    .*)?\n)+)", file.read_text(), re.MULTILINE)
}
PROFILES = sorted(path.parent.name for path in (ROOT / "config/profiles").glob("*/config.yaml"))


@pytest.mark.parametrize("name", RULES)
def test_every_rule_declares_all_that_a_cluster_and_a_person_need(name):
    body = RULES[name]
    for directive in ("output", "log", "benchmark", "resources", "message", "script"):
        assert re.search(rf"^    {directive}:", body, re.MULTILINE), directive
    assert "mem_mb=mem_mb(" in body
    assert "runtime=runtime(" in body
    assert not re.search(r"^    (run|shell):", body, re.MULTILINE)
    assert name == "download" or re.search(r"version=.*VERSION\[", body)  # by which it reruns


@pytest.mark.parametrize("name", DERIVED)
def test_a_derived_rule_with_a_log_of_its_own_has_a_benchmark_of_its_own(name):
    assert ("    log:" in DERIVED[name]) == ("    benchmark:" in DERIVED[name])
    assert re.search(r"^    (output|wildcard_constraints):", DERIVED[name], re.MULTILINE)


def test_a_rule_and_its_script_share_their_name():
    for name, body in RULES.items():
        assert re.search(rf'script:\s+"\.\./workflow_scripts/{name}\.py"', body), name
    scripts = {path.stem for path in (ROOT / "workflow_scripts").glob("*.py")}
    assert scripts == set(RULES)


@pytest.mark.parametrize("file", sorted((ROOT / "rules").glob("*.smk")), ids=lambda file: file.stem)
def test_every_rule_is_written_out_under_its_name(file):
    text = file.read_text()
    assert len(re.findall(r"^rule \w+:$", text, re.MULTILINE)) == len(re.findall(r"^\s*rule\b.*:$", text, re.MULTILINE))
    assert bool(list(declared(file))) == (file.stem != "common")  # what files share
    assert not re.search(r"^    name:", text, re.MULTILINE)


def test_scripts_are_adapters():
    for path in (ROOT / "workflow_scripts").glob("*.py"):
        text = path.read_text()
        assert text.startswith('"""'), path
        assert "with job(snakemake) as snakemake:" in text, path
        assert len(text.splitlines()) <= 60, path


@pytest.mark.parametrize("name", [*(f"config/profiles/{name}" for name in PROFILES), "profiles/default"])
def test_every_entry_of_a_profile_has_a_comment(name):
    text = (ROOT / name / "config.yaml").read_text()
    entries = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert all(" # " in line or line.endswith(":") for line in entries), entries
    assert yaml.safe_load(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in PROFILES if name != "kubernetes"])  # needs a store: test_storage.py
def test_profiles_can_be_planned(project, name):
    planned = project.planned("--profile", f"config/profiles/{name}", "--", "results/demo/eval.json")
    assert {"download", "train", "evaluate"} <= planned


def test_the_profile_that_is_always_there_takes_no_key_from_another():
    always = yaml.safe_load((ROOT / "profiles/default/config.yaml").read_text())
    assert always == {"logger": ["psp"]}
    for name in PROFILES:
        assert not always.keys() & yaml.safe_load((ROOT / f"config/profiles/{name}/config.yaml").read_text()).keys()


def test_memory_and_time_grow_with_each_attempt(project):
    common = (ROOT / "rules/common.smk").read_text()
    helpers = common[common.index("def mem_mb") :]
    scope = {"rates": rates}
    exec(helpers, scope)
    assert scope["mem_mb"](1000)(None, None, 2) == 2000
    assert scope["mem_mb"](lambda wildcards, input: 700.5)(None, None, 2) == 1401
    assert scope["runtime"](60)(None, 3) == 180
    billion = SimpleNamespace(size_mb=1e9 * rates.TEXT_BYTES / 2**20)
    hours = 1e9 / rates.DEDUPE_RATE / 3600
    allowed = scope["runtime"](60, rates.DEDUPE_RATE)(None, billion, 2) / 60
    assert allowed == pytest.approx(2 * (1 + 2 * hours), rel=0.02)
