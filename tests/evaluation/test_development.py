"""The validation score."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from psp.core.errors import ConfigError, DataError
from psp.evaluation.development import Development
from psp.evaluation.scorers import EmbeddingScorer
from psp.evaluation.testsets import SEMEVAL
from psp.pairs.pair_file import read_pairs

HELDOUT = "un chat\ta cat\t0\nun chien\ta dog\t1\noui\tyes\t0\noui\tyes\t1\n"


class Letters:
    """Texts as counts of letters."""

    def __init__(self):
        self.seen = set()

    def embed_raw_text(self, sentences):
        self.seen.update(sentences)
        return np.array([[text.count(chr(letter)) for letter in range(97, 123)] for text in sentences], dtype=float)


class Translator(Letters):
    """Knows three translations, or nothing."""

    WORDS = (("un chat", "a cat"), ("un chien", "a dog"), ("oui", "yes"))

    def embed_raw_text(self, sentences):
        return np.array([[float(text in words) for words in self.WORDS] for text in sentences])


@pytest.fixture
def sts_file(tmp_path):
    path = tmp_path / "dev.tsv"
    path.write_text("5\ta cat\ta cat\n1\ta cat\ta dog\n0\ta cat\tyes\n")
    return path


@pytest.fixture
def heldout(tmp_path):
    path = tmp_path / "heldout.tsv"
    path.write_text(HELDOUT)
    return path


def test_score_is_pearson_less_the_retrieval_error(sts_file, heldout):
    scorer = EmbeddingScorer(Letters())
    found = Development.load(sts_file, heldout).score(scorer)
    similarity = scorer.pairwise(["a cat"] * 3, ["a cat", "a dog", "yes"])
    assert found["pearson"] == pytest.approx(100 * stats.pearsonr(similarity, [5, 1, 0]).statistic, abs=1e-4)
    source, target = ["un chat", "un chien", "oui", "oui"], ["a cat", "a dog", "yes", "yes"]
    cross = scorer.cross(source, target)
    wrong = sum(target[cross[i].argmax()] != target[i] for i in range(4)) / 4
    wrong += sum(source[cross[:, j].argmax()] != source[j] for j in range(4)) / 4
    assert 0 < wrong < 2
    assert found["error"] == pytest.approx(100 * wrong / 2, abs=1e-4)
    assert found["score"] == pytest.approx(found["pearson"] - found["error"], abs=1e-3)
    assert (found["pairs_sts"], found["pairs_heldout"]) == (3, 4)


def test_a_repeated_text_is_found_in_any_of_its_places(heldout):
    found = Development.load(None, heldout).score(EmbeddingScorer(Translator()))
    assert found == {"score": 0.0, "pearson": None, "error": 0.0, "pairs_sts": 0, "pairs_heldout": 4}


def test_the_error_is_the_mean_of_both_directions():
    class Given:
        # Every source finds target 0; every target finds its own source.
        def cross(self, a, b):
            return np.array([[9.0, 1, 1, 1], [8, 7, 1, 1], [8, 1, 7, 1], [8, 1, 1, 7]])

        def pairwise(self, a, b):
            raise NotImplementedError

    found = Development(None, (list("abcd"), list("wxyz"))).score(Given())
    assert (found["error"], found["score"]) == (37.5, -37.5)


def test_no_correlation_counts_as_zero(sts_file):
    class Constant:
        def embed_raw_text(self, sentences):
            return np.ones((len(sentences), 2))

    found = Development.load(sts_file, None).score(EmbeddingScorer(Constant()))
    assert found == {"score": 0.0, "pearson": None, "error": None, "pairs_sts": 3, "pairs_heldout": 0}


def test_heldout_text_goes_to_its_own_scorer(sts_file, heldout):
    raw, prepared = Letters(), Letters()
    Development.load(sts_file, heldout).score(EmbeddingScorer(raw), EmbeddingScorer(prepared))
    assert raw.seen == {"a cat", "a dog", "yes"}
    assert "un chat" in prepared.seen


def test_the_english_track_is_read_from_the_archive(tmp_path):
    folder = tmp_path / "STS17-test"
    folder.mkdir()
    (folder / "STS.input.track5.en-en.txt").write_text("a\tb\nc\td\n")
    (folder / "STS.gs.track5.en-en.txt").write_text("1\n2\n")
    development = Development.load(SEMEVAL, None, archive=tmp_path)
    assert development.sts is not None
    assert development.sts.b == ["b", "d"]
    (folder / "STS.gs.track5.en-en.txt").unlink()
    with pytest.raises(DataError, match=r"no STS17-test/STS\.gs\.track5\.en-en\.txt .*name another development set"):
        Development.load(SEMEVAL, None, archive=tmp_path)


def test_there_must_be_something_to_choose_by():
    with pytest.raises(ConfigError, match="no data to select a model by"):
        Development.load(None, None)
    with pytest.raises(ConfigError, match="needs the STS archive"):
        Development.load(SEMEVAL, None)


def test_pair_files_with_and_without_the_corpus_column(tmp_path):
    path = tmp_path / "pairs.tsv"
    for content in ("un\u2028\tone\t0\ndeux\ttwo\t1", "un\u2028\tone\ndeux\ttwo"):
        path.write_bytes(content.encode())
        assert read_pairs(path) == (["un\u2028", "deux"], ["one", "two"])


@pytest.mark.parametrize(
    ("text", "message"), [("a\tb\na\n", r"pairs\.tsv, line 2: 1 columns"), ("", r"pairs\.tsv: no pairs")]
)
def test_malformed_pair_files_are_named(tmp_path, text, message):
    path = tmp_path / "pairs.tsv"
    path.write_text(text)
    with pytest.raises(DataError, match=message):
        read_pairs(path)
    with pytest.raises(DataError, match="cannot be read"):
        read_pairs(tmp_path / "absent.tsv")
