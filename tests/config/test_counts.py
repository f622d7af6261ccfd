"""How many pairs a corpus has, from what is known before anything is fetched."""

import gzip

import pytest

from psp.config.config import Config
from psp.config.counts import count


def of(item="Europarl", pairs=None):
    entry = {"version": "v8", **({} if pairs is None else {"pairs": {"en-fr": pairs}})}
    models = {"fr": {"languages": ["en", "fr"], "corpora": [item]}}
    config = Config({"corpora": {"Europarl": entry}, "models": models})
    return count(config.corpora, config.model("fr").parts[0])


@pytest.mark.parametrize("pairs", [None, 10])
def test_those_of_a_download_are_the_catalogues(pairs):
    assert of(pairs=pairs) == pairs


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.tsv.gz"])
def test_those_of_a_file_of_ones_own_are_estimated_from_a_sample(tmp_path, name):
    """Whatever the length of its lines; and again when it has changed."""
    file = tmp_path / name
    for length in (1, 40):
        with (gzip.open if name.endswith("gz") else open)(file, "wb") as out:
            out.write(b"one" * length + b"\tun\n")
            out.writelines([b"one " * length + b"\tun\n"] * 999)
        assert of({"path": str(file)}) == 1000


def test_those_of_a_file_that_cannot_be_read_are_unknown(tmp_path):
    (tmp_path / "pairs.tsv.gz").write_bytes(b"no such thing")
    assert of({"path": str(tmp_path / "pairs.tsv.gz")}) is None
    assert of({"path": str(tmp_path / "none.tsv")}) is None
