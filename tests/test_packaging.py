import re
import subprocess
import sys
import tomllib
from pathlib import Path

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from rattler import MatchSpec

from psp import core
from psp.core.errors import EXTRAS, missing_extra

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
CONDA = {
    "torch": "pytorch",
    "xxhash": "python-xxhash",
    "snakemake": "snakemake-minimal",
}
TOOLS_OF_DEVELOPERS = {"dev", "docs"}
# Large packages for what is off by default; whoever asks for it is told the extra's name.
OPTIONAL = {
    "use", "e5", "sentence-transformers", "export", "export-check", "search", "parquet", "serve", "hub", "peers",
    "mteb", "benchmarks", "transformer", "kubernetes", "kubernetes-test",
}  # fmt: skip


def wanted() -> dict[str, SpecifierSet]:
    """What pyproject.toml asks for, extras included but for those of developers and the optional ones."""
    lines = list(PROJECT["dependencies"])
    for extra, requirements in PROJECT["optional-dependencies"].items():
        if extra not in TOOLS_OF_DEVELOPERS | OPTIONAL:
            lines += requirements
    found = [Requirement(line) for line in lines]
    return {requirement.name: requirement.specifier for requirement in found if requirement.name != PROJECT["name"]}


def test_environment_yml_asks_for_the_same_as_pyproject_toml():
    dependencies = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    pip = next(entry["pip"] for entry in dependencies if isinstance(entry, dict))
    specs = [MatchSpec(entry, strict=True) for entry in dependencies if isinstance(entry, str)]
    conda = {spec.name.normalized: SpecifierSet(str(spec.version or "")) for spec in specs}
    assert conda.pop("python") == SpecifierSet(PROJECT["requires-python"])
    conda.pop("pip")
    from_pip = {Requirement(entry).name: Requirement(entry).specifier for entry in pip if not entry.startswith("-")}
    assert "--editable ." in pip
    expected = wanted()
    assert from_pip.keys() <= expected.keys()
    assert {CONDA.get(name, name): spec for name, spec in expected.items() if name not in from_pip} == conda
    assert {name: expected[name] for name in from_pip} == from_pip


def test_constraints_pin_every_requirement_within_its_range():
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    pins = {re.sub(r"[-_.]+", "-", name).lower(): version for name, version in pins.items()}
    requirements = [line for extra in PROJECT["optional-dependencies"].values() for line in extra]
    requirements += PROJECT["dependencies"]
    for requirement in map(Requirement, requirements):
        if requirement.name != PROJECT["name"]:
            assert requirement.specifier.contains(pins[requirement.name.lower()]), requirement


def test_the_extras_that_a_missing_package_is_said_to_be_in_have_it():
    of_module = {"fasttext": "fasttext-community", "sklearn": "scikit-learn", "yaml": "pyyaml"}
    for module, extra in EXTRAS.items():
        names = {Requirement(line).name for line in PROJECT["optional-dependencies"][extra]}
        assert of_module.get(module, module) in names, module
    error = ModuleNotFoundError("No module named 'sklearn.svm'", name="sklearn.svm")
    assert missing_extra(error) == "this needs the package sklearn: pip install 'paraphrastic[train]'"
    assert missing_extra(ModuleNotFoundError(name="strange")) is None and missing_extra(ValueError()) is None


def test_what_is_no_code_is_part_of_the_package():
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["psp"]
    packed = {path for pattern in patterns for path in (ROOT / "psp").glob(pattern)}
    there = {path for ending in ("yaml", "html", "css", "js", "tsv") for path in (ROOT / "psp").rglob(f"*.{ending}")}
    assert packed == there | {ROOT / "psp/py.typed"}


def test_nobody_is_told_to_install_the_other_project_named_psp():
    names = {Requirement(line).name for extra in PROJECT["optional-dependencies"].values() for line in extra}
    assert "psp" not in names and PROJECT["name"] in names
    stranger = re.compile(r"""pip install ([^|\n]*['" ])?psp\b(?![./])|(?<![\w.-])psp\[[a-z]""")
    paths = [ROOT / name for name in ("README.md", "Makefile", "Dockerfile", "pyproject.toml", "environment.yml")]
    paths += [path for name in ("psp", "docs", "config", "rules", "benchmarks") for path in (ROOT / name).rglob("*.*")]
    texts = {path: path.read_text(errors="replace") for path in paths if path.suffix != ".pyc" and path.is_file()}
    assert not [(path.name, found[0]) for path, text in texts.items() if (found := stranger.search(text))]


def test_the_dockerfile_takes_the_makefiles_steps():
    dockerfile, makefile = (ROOT / "Dockerfile").read_text(), (ROOT / "Makefile").read_text()
    steps = re.findall(r"make (\w+)|\"make\", \"(\w+)\"", dockerfile)
    targets = {first or second for first, second in steps} - {""}
    assert {"install", "demo"} <= targets
    assert all(re.search(rf"^{target}:", makefile, re.MULTILINE) for target in targets)
    # Nothing is installed but by `make`.
    assert "pip install" not in dockerfile


def test_what_people_cite_is_this_version():
    about = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))
    assert (about["version"], about["license"]) == (core.__version__, PROJECT["license"])
    assert [author["name"] for author in about["authors"]] == [author["name"] for author in PROJECT["authors"]]


def test_public_ci_runs_what_ci_runs_on_each_python_that_is_promised():
    jobs = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"]
    assert [step["run"] for step in jobs["all"]["steps"] if "run" in step] == [".ci/run"]
    pythons = jobs["all"]["strategy"]["matrix"]["python"]
    assert all(SpecifierSet(PROJECT["requires-python"]).contains(python) for python in pythons)
    (hooks,) = (repo["hooks"] for repo in yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"])
    assert hooks[0]["entry"] == "make lint" and {hook["language"] for hook in hooks} == {"system"}


def test_importing_psp_stays_light():
    code = "import psp, sys; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    loaded = set(
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    )
    heavy = {
        "torch",
        "h5py",
        "scipy",
        "pandas",
        "snakemake",
        "fasttext",
        "jieba",
        "requests",
        "yaml",
        "tqdm",
        "xxhash",
        "numba",
    }
    assert not loaded & heavy


def test_importing_psp_imports_no_declarations_of_settings():
    code = "import psp, sys; print(*sorted(name for name in sys.modules if name.startswith('psp.')))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    rooms = ("psp.config", "psp.pairs", "psp.training")
    assert loaded and not [name for name in loaded if name.startswith(rooms)]


def test_an_editable_install_is_one_in_which_snakemake_finds_its_screen():
    # Snakemake lists the folders of sys.path. With this, setuptools adds ours to it; a finder's packages would be in
    # none. (`make demo` fails where the plugin is not found: profiles/default asks for it.)
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    assert tools["package-dir"] == {"": "."}
    plugins = {path.name for path in ROOT.glob("snakemake_*_plugin_*")}
    assert plugins == {"snakemake_logger_plugin_psp"}
    assert plugins <= set(tools["packages"]["find"]["include"])
