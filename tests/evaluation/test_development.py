"""The validation score."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from sklearn import metrics

from psp.config.blocks.evaluation import SEMEVAL
from psp.core.errors import ConfigError, DataError
from psp.evaluation.development import Development, DevelopmentFiles
from psp.evaluation.scorers import EmbeddingScorer
from psp.evaluation.testsets import read_file

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


PLAIN = "5\ta cat\ta cat\n1\ta cat\ta dog\n0\ta cat\tyes\n2\tno\tnot\n"


def judged_set(folder, weight, metric="pearson", lines=PLAIN, name="own"):
    path = folder / f"{name}.tsv"
    path.write_text(lines)
    return (name, path, metric, weight)


def test_further_sets_enter_the_mean_with_their_weights(sts_file, heldout, tmp_path):
    labels = "1\ta cat\ta cat\n0\tdogs\tno\n1\ta cat\tan act\n0\tyes\tyet\n"
    files = DevelopmentFiles(
        sts_file,
        heldout,
        sets=[judged_set(tmp_path, 3.0), judged_set(tmp_path, 0.5, "average_precision", labels, "labels")],
        weights={"sts": 2.0, "heldout": 0.25},
    )
    scorer = EmbeddingScorer(Letters())
    found = files.load().score(scorer)
    own = read_file(tmp_path / "own.tsv")
    pearson = 100 * stats.pearsonr(scorer.pairwise(own.a, own.b), own.gold).statistic
    pairs = read_file(tmp_path / "labels.tsv")
    precision = 100 * metrics.average_precision_score(pairs.gold > 0, scorer.pairwise(pairs.a, pairs.b))
    assert found["sets"] == pytest.approx({"own": pearson, "labels": precision}, abs=1e-4)
    mean = (2 * found["pearson"] + 3 * pearson + 0.5 * precision) / 5.5
    assert found["score"] == pytest.approx(mean - found["error"] / 4, abs=1e-3)


def test_the_final_score_looks_for_held_out_pairs_among_more_sentences():
    rng = np.random.default_rng(3)
    texts = [[f"{side}{number}" for number in range(40)] for side in "st"]
    vectors = {text: rng.standard_normal(6) for side in texts for text in side}
    for source, target in zip(*texts, strict=True):
        vectors[target] = vectors[source] + 0.6 * rng.standard_normal(6)
    further = [[rng.standard_normal((size, 6)).astype(np.float32) for _ in range(2)] for size in (300, 1, 200)]

    class Given:
        def embed_raw_text(self, sentences):
            return np.array([vectors[text] for text in sentences])

    scorer = EmbeddingScorer(Given())
    development = Development(None, (texts[0], texts[1]))
    found = development.final(scorer, scorer, map(tuple, further))

    wrong = []
    for direction in range(2):
        queries = np.array([vectors[text] for text in texts[direction]])
        among = np.concatenate(
            [[vectors[text] for text in texts[1 - direction]], *(one[1 - direction] for one in further)]
        )
        cosines = queries @ among.T / np.linalg.norm(queries, axis=1)[:, None] / np.linalg.norm(among, axis=1)
        wrong.append(cosines.argmax(axis=1) != np.arange(40))
    per_pair = 100 * np.mean(wrong, axis=0)
    assert found["retrieval"]["error"] == pytest.approx(per_pair.mean(), abs=1e-4)
    assert (found["retrieval"]["candidates"], found["retrieval"]["items"]) == (501, 40)
    assert found["retrieval"]["error"] > development.score(scorer)["error"]
    assert found["score"] == -found["retrieval"]["error"]
    # Of a mean of 40 values: their deviation by the root of 40.
    assert found["standard_error"] == pytest.approx(per_pair.std() / 40**0.5, rel=0.15)


def test_the_final_score_without_further_candidates_is_the_score(sts_file, heldout):
    development, scorer = Development.load(sts_file, heldout), EmbeddingScorer(Letters())
    found, before = development.final(scorer, scorer), development.score(scorer)
    assert found["score"] == pytest.approx(before["score"], abs=1e-3)
    assert found["retrieval"]["error"] == before["error"]
    assert found["sets"]["dev.tsv"]["value"] == before["pearson"]


def test_the_standard_error_is_that_of_all_parts_together(tmp_path, heldout):
    rng = np.random.default_rng(1)
    words = ["".join(rng.choice(list("abcdefgh"), 6)) for _ in range(200)]
    lines = "".join(f"{rng.random():.3f}\t{a}\t{b}\n" for a, b in zip(words[::2], words[1::2], strict=True))
    files = DevelopmentFiles(
        None, heldout, sets=[judged_set(tmp_path, 1.0, lines=lines), judged_set(tmp_path, 3.0, lines=lines, name="b")]
    )
    scorer = EmbeddingScorer(Letters())
    found = files.load().final(scorer, scorer)
    errors = [found["sets"]["own"]["standard_error"] / 4, 3 * found["sets"]["b"]["standard_error"] / 4]
    errors.append(found["retrieval"]["standard_error"])
    assert found["standard_error"] == pytest.approx(np.linalg.norm(errors), abs=1e-3)
    data = read_file(tmp_path / "own.tsv")
    similarity = scorer.pairwise(data.a, data.b)
    drawn = rng.integers(0, 100, (2000, 100))
    resampled = [stats.pearsonr(similarity[rows], data.gold[rows]).statistic for rows in drawn]
    assert found["sets"]["own"]["standard_error"] == pytest.approx(100 * np.std(resampled), rel=0.15)


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


def test_an_undefined_metric_counts_as_zero(sts_file):
    class Constant:
        def embed_raw_text(self, sentences):
            return np.ones((len(sentences), 2))

    development, scorer = Development.load(sts_file, None), EmbeddingScorer(Constant())
    found = development.score(scorer)
    assert found == {"score": 0.0, "pearson": None, "error": None, "pairs_sts": 3, "pairs_heldout": 0}
    assert development.final(scorer, scorer)["standard_error"] == 0.0
