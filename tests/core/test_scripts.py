"""A script's params where its input files are elsewhere."""

import pytest
from snakemake.iocontainers import InputFiles, Log, OutputFiles, Params, ResourceList, Snakemake, Wildcards

from psp.core.scripts import job, local

STORE = ".snakemake/storage/s3/bucket"
FILES = [f"{STORE}/results/fr/model/config.json", f"{STORE}/results/downloads/sts/STS.zip"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A folder without results: this one's may hold such files."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("results/downloads/sts/STS.zip", FILES[1]),
        ("results/fr/model", f"{STORE}/results/fr/model"),
        ("results/fr/model/", f"{STORE}/results/fr/model/"),
        ({"fr": ["results/downloads/sts/STS.zip", 3]}, {"fr": [FILES[1], 3]}),
        ((None, ("results/fr/model",)), (None, (f"{STORE}/results/fr/model",))),
        # What is no file of the job's stays: names, other files, a path's middle.
        ("STS.zip", "STS.zip"),
        ("results/de/model", "results/de/model"),
        ("ults/fr/model", "ults/fr/model"),
        ("a text / of any length " * 1000, "a text / of any length " * 1000),
        ("/", "/"),
        ("a\0/b", "a\0/b"),
        ("results/downloads/sts/STS.zip.json", "results/downloads/sts/STS.zip.json"),
    ],
)
def test_names_of_files_elsewhere_become_their_paths(value, found):
    assert local(value, FILES) == found


def test_a_file_that_is_here_is_meant(tmp_path):
    (tmp_path / "results/fr/model").mkdir(parents=True)
    assert local("results/fr/model", FILES) == "results/fr/model"


def test_a_script_sees_them_by_name_and_number(tmp_path):
    log = tmp_path / "log"
    params = Params(fromdict={"seed": 1, "sets": {"sts": "results/downloads/sts/STS.zip"}})
    own = Snakemake(
        InputFiles(FILES), OutputFiles(), params, Wildcards(), 2, ResourceList(), Log([str(log)]), {}, "evaluate", None
    )
    with job(own) as snakemake:
        assert snakemake.params.sets == snakemake.params[1] == {"sts": FILES[1]}
        assert (snakemake.params.seed, snakemake.threads, list(snakemake.input)) == (1, 2, FILES)
    assert log.exists()
