"""How many jobs filter a corpus, from what is known before anything is fetched."""

import gzip
import itertools

import pytest

from psp.config.config import Config
from psp.config.rates import FILTER_RATE, SIMILARITY_RATE
from psp.config.shards import SMALL_MINUTES, rows, small

HALF_AN_HOUR = 30 * 60


def of(config, name="fr"):
    (part, *_) = config.model(name).parts
    return rows(config.corpora, part)


def config(pairs=None, item="Europarl", **filters):
    entry = {"version": "v8", **({} if pairs is None else {"pairs": {"en-fr": pairs}})}
    models = {"fr": {"languages": ["en", "fr"], "corpora": [item], "filters": filters}}
    return Config({"corpora": {"Europarl": entry}, "models": models})


@pytest.mark.parametrize("pairs", [None, 10, HALF_AN_HOUR * FILTER_RATE])
def test_one_job_filters_what_is_small_or_of_unknown_size(pairs):
    assert of(config(pairs)) == [(0, None)]


def test_a_large_corpus_is_split_into_parts_of_about_half_an_hour():
    pairs = 1_000_000_000
    found = of(config(pairs))
    assert len(found) == 13
    assert found[0][0] == 0 and found[-1][1] is None
    assert all(one[1] == then[0] for one, then in itertools.pairwise(found))
    assert max(stop - start for start, stop in found[:-1]) <= HALF_AN_HOUR * FILTER_RATE
    assert found[-1][0] < pairs


def test_the_length_of_a_job_can_be_set_and_an_encoder_counts():
    assert len(of(config(HALF_AN_HOUR * FILTER_RATE, job_minutes=10))) == 3
    with_encoder = {"enabled": True, "encoder": "minilm", "min": 0.5}
    assert len(of(config(HALF_AN_HOUR * SIMILARITY_RATE * 4, similarity=with_encoder))) == 4


@pytest.mark.parametrize("name", ["pairs.tsv", "pairs.tsv.gz"])
def test_the_pairs_of_a_file_of_ones_own_are_counted_by_a_sample(tmp_path, name):
    """Whatever the length of its lines; and again when it has changed."""
    file = tmp_path / name
    for length in (1, 40):
        with (gzip.open if name.endswith("gz") else open)(file, "wb") as out:
            out.write(b"one" * length + b"\tun\n")
            out.writelines([b"one " * length + b"\tun\n"] * 999)
        found = of(config(item={"path": str(file)}, job_minutes=1000 / FILTER_RATE / 60 / 3))
        assert found == [(0, 334), (334, 668), (668, None)]


def test_a_file_that_cannot_be_read_has_one_job(tmp_path):
    (tmp_path / "pairs.tsv.gz").write_bytes(b"no such thing")
    assert of(config(item={"path": str(tmp_path / "pairs.tsv.gz")}, job_minutes=1e-6)) == [(0, None)]
    assert of(config(item={"path": str(tmp_path / "none.tsv")}, job_minutes=1e-6)) == [(0, None)]


def test_small_corpora_share_a_job():
    little, much = int(SMALL_MINUTES * 60 * FILTER_RATE) - 1, int(SMALL_MINUTES * 60 * FILTER_RATE) + 1
    pairs = {"Few": little, "Fewer": 10, "Many": much, "Unknown": None, "Own": 10, "Scored": 10_000, "Least": 1}
    corpora = {
        name: {"version": "v1", **({} if count is None else {"pairs": {"en-fr": count}})}
        for name, count in pairs.items()
    }
    corpora["Own"]["filters"] = {"custom": ["module:keep"]}
    corpora["Scored"]["filters"] = {"similarity": {"enabled": True, "encoder": "minilm", "min": 0.5}}
    config = Config({"corpora": corpora, "models": {"fr": {"languages": ["en", "fr"], "corpora": list(corpora)}}})
    parts = config.model("fr").parts
    assert [part.corpus for part in small(config.corpora, parts)] == ["Few", "Fewer", "Least"]
    assert small(config.corpora, parts[1:-1]) == []  # one alone
