"""The config that ``psp train`` writes, for files of each kind, with and without test sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from psp.config.config import Config
from psp.config.from_file import config_of
from psp.core.errors import PspError
from psp.core.workflow import CONFIG, home
from psp.corpora import reader

EN_FR = ("en", "fr")


@pytest.fixture(autouse=True)
def no_data(monkeypatch):
    monkeypatch.delenv("PSP_DATA", raising=False)


def written(path: Path, text: str = "the cat\tle chat\n", languages=EN_FR, **options):
    """The entry that is written for a file of such text, the sources, the warnings and the resolved model."""
    path.write_text(text, encoding="utf-8")
    out, warnings = config_of(path, languages, "mine", **options)
    own = yaml.safe_load(out)
    (path.parent / "config.yaml").write_text(out)
    config = Config.load([home() / CONFIG, path.parent / "config.yaml"])
    return own["models"]["mine"], own.get("sources", {}), warnings, config


def test_without_test_sets_nothing_is_downloaded_and_one_line_says_what_is_missing(tmp_path):
    entry, sources, warnings, config = written(tmp_path / "my.tsv", seed=7)
    assert entry["corpora"] == [{"path": str(tmp_path / "my.tsv")}] and entry["seed"] == 7 and sources == {}
    assert config.downloads(config.model("mine")) == []
    assert config.model("mine")["development"]["heldout"] == 2000
    (warning,) = warnings
    assert warning.startswith("STS and Tatoeba: not scored, and their sentences not kept out of training")


def test_with_test_sets_the_recipe_is_as_it_is(tmp_path, monkeypatch):
    tatoeba = tmp_path / "eval/tatoeba/v1"
    tatoeba.mkdir(parents=True)
    monkeypatch.setenv("PSP_DATA", str(tmp_path))
    for language in ("fra", "eng"):
        (tatoeba / f"tatoeba.fra-eng.{language}").touch()
    entry, sources, (warning,), _ = written(tmp_path / "my.tsv")
    assert entry["evaluate"] == {"sts": False} and warning.startswith("STS: not scored")
    (tmp_path / "eval/sts").mkdir()
    entry, sources, warnings, config = written(tmp_path / "my.tsv", recipe="paper")
    assert warnings == [] and entry.keys() == {"languages", "corpora", "recipe", "filters"}
    assert config.model("mine")["development"]["sts"] == "semeval2017-en"
    assert set(sources) == {"sts", "tatoeba"}
    names = config.downloads(config.model("mine"))
    assert len(names) == 3 and config.missing(config.model("mine"), tmp_path) == []


def test_the_paper_needs_no_download_and_no_english(tmp_path):
    for languages in (EN_FR, ("de", "pl"), ("en",)):
        *_, config = written(tmp_path / "my.tsv", languages=languages, recipe="paper")
        model = config.model("mine")
        assert (model.recipe, config.downloads(model)) == ("paper", [])


def test_a_language_that_no_package_identifies_is_not_filtered_by(tmp_path):
    entry, _, warnings, _ = written(tmp_path / "my.tsv", languages=("en", "kv"))
    assert entry["filters"] == {"language": {"enabled": False}}
    assert "no package identifies kv: the filter of languages is off" in warnings


TMX = """<?xml version="1.0"?><tmx version="1.4"><header/><body><tu>
<tuv xml:lang="en"><seg>the cat</seg></tuv><tuv xml:lang="fr"><seg>le chat</seg></tuv></tu></body></tmx>"""


@pytest.mark.parametrize(
    ("name", "text", "item"),
    [
        ("my.csv", "source,target\nthe cat,le chat\n", {"csv": "my.csv"}),
        ("My.CSV", "id;fr;en\n1;le chat;the cat\n", {"csv": "My.CSV", "columns": ["en", "fr"]}),
        ("my.jsonl", json.dumps({"en": "the cat", "fr": "le chat"}), {"jsonl": "my.jsonl", "columns": ["en", "fr"]}),
        ("my.tmx", TMX, {"tmx": "my.tmx"}),
        ("my.txt", "the cat\tle chat\t0.5\n", {"path": "my.txt"}),
    ],
)
def test_each_kind_of_file(tmp_path, name, text, item):
    entry, *_, config = written(tmp_path / name, text)
    assert entry["corpora"] == [{key: str(tmp_path / value) if value == name else value for key, value in item.items()}]
    (part,) = config.model("mine").parts
    assert next(iter(reader(part.kind).read(part.path, part.corpus, part.names)))[:2] == ("the cat", "le chat")


@pytest.mark.parametrize(
    ("name", "text", "options", "message"),
    [
        ("my.xlsx", "", {}, "my.xlsx: its name ends in none of .tsv, .txt, .csv, "),
        ("my.tsv", "", {}, "my.tsv: holds no pairs"),
        ("my.tsv", "a sentence\n", {}, "my.tsv: its first row is no pair: 1 column"),
        (
            "my.csv",
            "a,b\nx,y\n",
            {},
            "it has a, b: name others by `columns` (psp train takes source and target, or en ",
        ),
        ("my.csv", "", {"languages": ["en"]}, "my.csv: line 1: its header has no column source"),
    ],
)
def test_what_is_wrong_is_one_line(tmp_path, name, text, options, message):
    with pytest.raises(PspError) as caught:
        written(tmp_path / name, text, **options)
    assert message in str(caught.value) and "\n" not in str(caught.value)
