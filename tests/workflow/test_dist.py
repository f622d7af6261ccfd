"""The wheel that `make dist` builds, in an environment that has nothing else, outside the checkout."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import psp
from psp.core.errors import EXTRAS
from tests.workflow.conftest import TINY

ROOT = Path(__file__).parents[2]
#: What a run of the workflow needs, beside the Snakefile.
WORKFLOW = ("rules", "workflow_scripts", "config", "phrasebook", "profiles")

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder with the wheel and the source archive, built of a copy of what git has or would take."""
    copy, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("dist")
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True
    )
    if listed.returncode:
        pytest.skip("no git checkout: what would be built is not known")
    for name in listed.stdout.splitlines():
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    # The setuptools that is here: no index is asked for another.
    build = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(out), str(copy)]
    subprocess.run(build, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": ""})
    return out


@pytest.fixture(scope="module")
def whole(built, tmp_path_factory):
    """A function that runs a program of an environment with the wheel and all libraries that are here."""
    folder = tmp_path_factory.mktemp("whole")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    (wheel,) = built.glob("*.whl")
    pip = [folder / "venv/bin/python", "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", wheel]
    subprocess.run(pip, check=True)
    (own,) = folder.glob("venv/lib/python*/site-packages")
    # A folder that a .pth names is not searched for others: not for that of an editable install of psp.
    (own / "libraries.pth").write_text(f"{sysconfig.get_path('purelib')}\n")
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    environment["PATH"] = f"{folder / 'venv/bin'}{os.pathsep}{environment['PATH']}"

    def run(program, *arguments, cwd):
        command = [folder / "venv/bin" / program, *arguments]
        done = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=600)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture(scope="module")
def bare(built, tmp_path_factory):
    """A function that runs a program of an environment with the wheel and what it requires, and nothing else."""
    folder = tmp_path_factory.mktemp("bare")
    subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    (wheel,) = built.glob("*.whl")
    install = [
        folder / "venv/bin/python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--constraint",
        ROOT / "constraints.txt",
        wheel,
    ]
    subprocess.run(install, check=True)
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}

    def run(program, *arguments, input=None, cwd=folder, **variables):
        return subprocess.run(
            [folder / "venv/bin" / program, *arguments],
            cwd=cwd, env=environment | variables, capture_output=True, text=True, timeout=120, input=input,
        )  # fmt: skip

    return run


def test_what_is_in_the_wheel_and_in_the_source_archive(built):
    (wheel,) = built.glob("*.whl")
    (archive,) = built.glob("*.tar.gz")
    assert wheel.name.startswith(f"paraphrastic-{psp.__version__}-")
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = {file for folder in ("psp", *WORKFLOW) for file in (ROOT / folder).rglob("*") if file.is_file()}
    places = {file.relative_to(ROOT).as_posix() for file in tracked if "__pycache__" not in file.parts}
    assert {name for name in names if name.startswith("psp/")} == {
        name if name.startswith("psp/") else f"psp/workflow/{name}" for name in {*places, "Snakefile"}
    }
    assert not {name for name in names if re.match(r"(tests|rules|config|benchmarks|phrasebook)/", name)}
    with tarfile.open(archive) as file:
        held = {name.partition("/")[2] for name in file.getnames()}
    assert {"Snakefile", "rules/train.smk", "config/config.yaml", "CHANGELOG.md", "tests/workflow/test_dist.py"} <= held


def test_the_starter_is_a_wheel_of_its_own(built, bare, tmp_path):
    source = tmp_path / "starter"
    shutil.copytree(ROOT / "starter", source, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path), str(source)]
    subprocess.run(build, check=True, capture_output=True, env=os.environ | {"PYTHONPATH": ""})
    (wheel,) = tmp_path.glob("paraphrastic_starter-*.whl")
    assert wheel.stat().st_size < 15e6
    missing = bare("psp", "info", "starter")
    assert missing.returncode == 1 and "starter: not installed; pip install paraphrastic-starter" in missing.stderr
    constraints = ["--constraint", ROOT / "constraints.txt"]
    assert bare("python", "-m", "pip", "install", "--quiet", *constraints, wheel).returncode == 0
    scored = bare("psp", "score", "starter", input="a red car\tune voiture rouge\na red car\tгде вокзал?\n")
    cosines = [float(line.split("\t")[2]) for line in scored.stdout.splitlines()]
    assert cosines[0] > 0.5 > cosines[1]
    uninstalled = bare("python", "-m", "pip", "uninstall", "--quiet", "--yes", "paraphrastic-starter")
    assert uninstalled.returncode == 0


def test_no_strangers_package_is_asked_for(built):
    (wheel,) = built.glob("*.whl")
    with zipfile.ZipFile(wheel) as file:
        name = next(name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = message_from_bytes(file.read(name))
    required = {Requirement(line).name for line in metadata.get_all("Requires-Dist")}
    assert metadata["Name"] == "paraphrastic" and {"numpy", "snakemake", "paraphrastic"} <= required
    assert "psp" not in required


def test_the_command_and_exports_say_that_another_psp_is_imported(bare, tmp_path):
    (tmp_path / "psp").mkdir()
    (tmp_path / "psp/__init__.py").write_text("def red(text): ...\n")
    hidden = {"PYTHONPATH": str(tmp_path)}
    said = "is not paraphrastic's but another project of that name: run 'pip uninstall psp'"
    result = bare("psp", "--version", **hidden)
    assert result.returncode == 1 and said in result.stderr and result.stderr.count("\n") == 1
    for code in ("import paraphrastic.exports", "import paraphrastic; paraphrastic.load_model('x')"):
        assert said in bare("python", "-c", code, **hidden).stderr.splitlines()[-1]
    assert bare("python", "-c", "import psp; psp.red('x')", **hidden).returncode == 0  # it checks nothing


def test_every_command_has_its_help(bare):
    commands = re.findall(r"^  ([a-z-]+)\b", bare("psp", "--help").stdout, re.MULTILINE)
    assert len(commands) > 20
    for command in commands:
        result = bare("psp", command, "--help")
        assert result.returncode == 0 and result.stdout.startswith(f"usage: psp {command}"), result.stderr


#: What each command that needs no project does by the wheel alone: it works, or names the extra in one line.
ALONE = {
    "info {model}": None,
    "embed {model} en.txt --out v.npy": None,
    "embed {model} en.txt --out v.parquet": "parquet",
    "embed hf://user/name en.txt --out w.npy": "hub",
    "embed https://localhost:1/model.zip#sha256={zeros} en.txt --out w.npy": "data",
    "score {model} pairs.tsv": None,
    "search {model} en.txt fr.txt": "search",
    "mine {model} en.txt fr.txt --out mined.tsv": "search",
    "serve {model} --port 0": "serve",
    "quantize {model} small --dtype int8": None,
    "combine {model} {lstm} --out both": None,
    "export sentence-transformers {model} st": None,
    "export word2vec {model} words": None,
    "export onnx {model} onnx": "export",
    "export static-embedding {model} static": "export",
    "push {model} user/name": "hub",
    "import-checkpoint none.pt {model}/sentencepiece.model imported": "train",
    "show {results}": None,
    "show {results} --quoted": "data",
    "report {results} --out page.html": "workflow",
    "settings train": "data",
    "eval {model} --sts sts": "data",
    "translate {model} en.txt": "translate",
    "paraphrase {model} en.txt --encoder {model}": "translate",
}


@pytest.mark.parametrize("command", ALONE)
def test_by_the_wheel_alone_a_command_works_or_names_the_extra(bare, command, tmp_path):
    held = ROOT / "tests/held/fixtures"
    (tmp_path / "en.txt").write_text("the cat\nthe dog\n")
    (tmp_path / "fr.txt").write_text("le chat\nle chien\n")
    (tmp_path / "pairs.tsv").write_text("the cat\tle chat\n")
    (tmp_path / "none.pt").write_bytes(b"\x80\x02.")
    (tmp_path / "sts").mkdir()
    places = {
        "model": held / "subword",
        "lstm": held / "lstm",
        "results": ROOT / "tests/fixtures/results",
        "zeros": "0" * 64,
    }
    result = bare("psp", *(word.format(**places) for word in command.split()), cwd=tmp_path)
    if (extra := ALONE[command]) is None:
        assert result.returncode == 0, result.stderr
    else:
        assert result.returncode == 1 and result.stderr.count("\n") == 1, result.stderr
        assert f"pip install 'paraphrastic[{extra}]'" in result.stderr, result.stderr


def test_the_page_lists_the_extras_that_commands_name():
    page = (ROOT / "docs/guide/install.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE))
    assert {*EXTRAS.values(), *ALONE.values()} - {None} <= listed


@pytest.mark.parametrize(
    "arguments", [["plan", "fr"], ["inspect", "fr"], ["pin", "fr"], ["languages", "suggest", "sw"]]
)
def test_commands_of_the_workflow_name_the_extra_that_they_need(bare, arguments):
    result = bare("psp", *arguments)
    assert result.returncode == 1 and result.stderr.count("\n") == 1
    assert "pip install 'paraphrastic[data]'" in result.stderr


def test_the_workflow_runs_in_an_empty_folder(whole, tmp_path):
    snakefile = Path(whole("psp", "workflow", cwd=tmp_path).strip())
    assert snakefile.parts[-3:] == ("psp", "workflow", "Snakefile")
    (tmp_path / "tiny.yaml").write_text(TINY)
    configs = ["--configfile", snakefile.parent / "config/demo.yaml", "tiny.yaml"]
    assert whole("psp", "plan", "demo", *configs, cwd=tmp_path).startswith("model demo: ")
    snakemake = ["-m", "snakemake", "-s", snakefile, "--cores", "2"]
    whole("python", *snakemake, *configs, "--", "results/demo/eval.json", cwd=tmp_path)
    assert whole("psp", "show", "results/demo", cwd=tmp_path)
    assert {file.name for file in tmp_path.iterdir()} == {".snakemake", "results", "tiny.yaml"}
    # The README's shortest way.
    command = "psp train my.tsv --languages en fr --out mine"
    assert f"\n{command}\n" in (ROOT / "README.md").read_text(encoding="utf-8")
    pairs = zipfile.ZipFile(tmp_path / "results/phrasebook/opus/Phrasebook/v1/moses/en-fr.txt.zip")
    sides = [pairs.read(f"Phrasebook.en-fr.{side}").decode().splitlines()[:600] for side in ("en", "fr")]
    (tmp_path / "my.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in zip(*sides, strict=True)), encoding="utf-8")
    assert "mine embeds English and French" in whole(*command.split(), cwd=tmp_path)
    assert (tmp_path / "mine/results/mine/model/model.safetensors").exists()
