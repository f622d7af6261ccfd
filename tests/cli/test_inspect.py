"""``psp inspect``: its findings and its page, without the workflow, and for files that are here without a network."""

import json
import socket
from pathlib import Path

import pytest

from psp.cli.main import main
from tests.cli.conftest import phrases, refused
from tests.conftest import write_pair_file


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """The phrasebook's corpora and test sets, and its pairs in a file."""
    folder = tmp_path_factory.mktemp("data")
    write_pair_file(folder / "my.tsv", phrases(folder))
    return folder


@pytest.fixture
def inspected(tmp_path, monkeypatch, capsys):
    """Runs the command in a folder, without a network, and returns what it prints."""

    def refused(*_):
        raise AssertionError("the network was asked for")

    monkeypatch.setattr(socket.socket, "connect", refused)

    def run(config, *arguments):
        (tmp_path / "own.yaml").write_text(json.dumps(config))
        main(["inspect", *arguments, "--configfile", str(tmp_path / "own.yaml"), "--folder", str(tmp_path)])
        out = capsys.readouterr()
        assert "Snakemake" not in out.out + out.err
        return out.out

    return run


def test_a_file_of_ones_own_needs_no_network(data, inspected, tmp_path):
    config = {"models": {"mine": {"languages": ["en", "fr"], "corpora": [{"path": str(data / "my.tsv")}]}}}
    said = inspected(config, "mine")
    assert said.startswith("mine: ") and "\nmy.en-fr " in said
    assert "sentences of development, sts, tatoeba were not looked for: not downloaded yet" in said
    assert said.splitlines()[-1].endswith("results/mine/inspect.html")
    assert "What the filters would drop" in (tmp_path / "results/mine/inspect.html").read_text()
    report = json.loads(inspected(config, "mine", "--json"))
    assert report["corpora"][0]["seen"] == report["corpora"][0]["rows"] > 1000


def test_a_corpus_is_downloaded_as_for_training_and_test_sets_from_mirrors_that_are_here(data, inspected):
    config = {
        "sources": {
            "opus": {"mirrors": [f"file://{data}/opus/{{corpus}}/{{version}}/moses/{{pair}}.txt.zip"]},
            "tatoeba": {"version": "v1", "mirrors": [f"file://{data}/tatoeba/{{version}}/{{file}}"]},
        },
        "corpora": {"Phrasebook": {"version": "v1", "licence": "MIT"}},
        "models": {"demo": {"languages": ["en", "fr"], "corpora": ["Phrasebook"], "evaluate": {
            "sts": False, "files": {"own": str(data / "sts/phrasebook-test.tsv")}}, "development": {"sts": None}}},
    }  # fmt: skip
    report = json.loads(inspected(config, "demo", "--json"))
    (corpus,) = report["corpora"]
    assert corpus["rows"] == 1500 and corpus["sides"][1]["own"] > 0.8
    # Its noise: a line of each kind at least, and sentences of the sets.
    assert {reason.partition(":")[0] for reason in corpus["dropped"]} >= {"length", "identical", "language"}
    assert not [note for note in report["notes"] if "looked for" in note]


def test_a_model_without_corpora_is_an_error(inspected, capsys):
    config = {"models": {"both": {"encoder": {"concat": ["fr", "de"]}}}}
    with pytest.raises(SystemExit):
        inspected(config, "both")
    assert capsys.readouterr().err.startswith("error: models.both: has no corpora of its own")


def test_the_demo_before_its_text_is_made_says_what_makes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    demo = Path(__file__).parents[2] / "config/demo.yaml"
    made = "results/phrasebook/opus/Phrasebook/v1/moses/en-fr.txt.zip"
    command = f"snakemake --cores 2 --configfile {demo} -- {made}"
    said = refused(capsys, "inspect", "demo", "--configfile", demo)
    assert said == f"error: {made}: the workflow makes it first: {command}"
