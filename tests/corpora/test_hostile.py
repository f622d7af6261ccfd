"""Archives and names that are made to do harm."""

from __future__ import annotations

import gzip
import stat
import zipfile
from pathlib import Path

import pytest

from psp.config.blocks.sources import Remote
from psp.core.errors import ConfigError, DataError
from psp.corpora import open_corpus
from psp.corpora.download import fetch
from tests.config.test_config import config, fr, message

HARMFUL = (
    "../out.txt",
    "../../out.txt",
    "/tmp/psp-out.txt",
    "a/../../out.txt",
    "C:\\out.txt",
    "a\\..\\out.txt",
    "$(x).txt",
)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("name", HARMFUL)
def test_members_names_are_no_places(tmp_path: Path, name: str) -> None:
    """Members are read where they are; nothing is ever unpacked, wherever its name points."""
    packed, inner = tmp_path / "deep/er/a.zip", tmp_path / "deep/er"
    inner.mkdir(parents=True)
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(name, "a b\tc d\t0.5\n")
    before = tree(tmp_path)
    assert list(open_corpus("paranmt", packed, "", ("", ""))) == [("a b", "c d", 0.5)]
    assert tree(tmp_path) == before and not Path("/tmp/psp-out.txt").exists()
    fetched = tmp_path / "downloads/a.zip"
    fetch(Remote("a.zip", (str(packed),)), fetched, Path(f"{fetched}.json"))
    assert set(tree(tmp_path)) - set(before) == {"downloads/a.zip", "downloads/a.zip.json"}


def test_a_link_in_an_archive_is_text(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not\tfor\t1\n")
    link = zipfile.ZipInfo("a.txt")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, str(secret))
    with pytest.raises(DataError, match="1 column instead of"):
        list(open_corpus("paranmt", tmp_path / "a.zip", "", ("", "")))


@pytest.mark.parametrize("name", ["a b", "a\nb", "a;id", "$(id)", "`id`", "'", '"', "a&b", "é", "-rf", "a*?"])
@pytest.mark.parametrize("ending", [".tsv", ".tsv.gz"])
def test_files_of_any_name_are_read(tmp_path: Path, name: str, ending: str) -> None:
    path = tmp_path / f"{name}{ending}"
    text = b"one two\tun deux\n"
    path.write_bytes(gzip.compress(text) if ending.endswith(".gz") else text)
    assert list(open_corpus("local", path, "", ("", ""))) == [("one two", "un deux")]
    (part,) = config(fr(corpora=[{"path": str(path)}])).model("fr").parts
    assert "/" not in part.label and "\n" not in part.label and " " not in part.label


@pytest.mark.parametrize("name", ["../x", "a/b", "a b", "a\nb", "a;id", "$(id)", "", ".", "..", "-x", "é", "a\x00b"])
def test_names_that_become_folders_are_plain(name: str) -> None:
    entry = fr()["fr"]
    assert "models" in message(models={name: entry})
    assert "corpora" in message(models=fr(), corpora={name: {"version": "v1"}, "Europarl": {"version": "v8"}})
    assert "translators" in message(models=fr(), translators={name: {"languages": ["fr", "en"], "command": "cat"}})
    with pytest.raises(ConfigError):
        config({"fr": {**entry, "languages": ["en", name]}}).model("fr")
    with pytest.raises(ConfigError):
        config({"fr": {**entry, "corpora": [{"path": "x.tsv", "name": name}]}}).model("fr")
    with pytest.raises(ConfigError):
        config({"fr": {**entry, "variants": {name: {"epochs": 2}}}}).model("fr")
