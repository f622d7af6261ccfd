"""Systems ready to be scored, and faults of other people's encoders."""

from __future__ import annotations

import numpy as np
import pytest

from psp.core.errors import ConfigError, DataError
from psp.evaluation.system import scorer_of
from psp.models import embedding_cache
from psp.models.registry import ForeignEncoder


def test_a_psp_model_is_a_system_with_the_models_own_scores(made):
    texts, others = made.lines[:20], made.lines[20:40]
    from psp.evaluation.scorers import EmbeddingScorer
    from psp.models.folder import load_model

    expected = EmbeddingScorer(load_model(made.model))
    found = scorer_of(str(made.model))
    np.testing.assert_array_equal(found.pairwise(texts, others), expected.pairwise(texts, others))
    np.testing.assert_array_equal(found.cross(texts, others), expected.cross(texts, others))


def test_baselines_with_subwords_need_a_model():
    with pytest.raises(ConfigError, match="untrained has the subwords of a trained model, and is scored with it"):
        scorer_of("untrained")


@pytest.mark.parametrize(
    ("gives", "said"),
    [
        (lambda texts: [[1.0, 2.0], [1.0]][: len(texts)], "foreign: did not return a matrix of vectors"),
        (lambda texts: np.ones((1, 2)), r"foreign: gave vectors of shape \(1, 2\) for 2 texts"),
        (lambda texts: np.ones(len(texts)), r"foreign: gave vectors of shape \(2,\) for 2 texts"),
        (
            lambda texts: np.full((len(texts), 2), np.nan),
            "foreign: the vector of 'one' is not finite; leave the system",
        ),
    ],
    ids=["rows of two lengths", "too few", "numbers", "NaN"],
)
@pytest.mark.parametrize("kept", [False, True], ids=["", "kept"])
def test_faults_of_an_encoder_are_named(monkeypatch, tmp_path, gives, said, kept):
    monkeypatch.setattr(embedding_cache, "load_encoder", lambda name: ForeignEncoder(gives, "identity"))
    with pytest.raises(DataError, match=said):
        scorer_of("foreign", cache=tmp_path if kept else None).pairwise(["one"], ["two"])


def test_vectors_of_two_lengths_in_two_calls_are_named(monkeypatch):
    monkeypatch.setattr(
        embedding_cache, "load_encoder", lambda name: ForeignEncoder(lambda texts: np.ones((2, len(texts[0]))), "")
    )
    scorer = scorer_of("foreign")
    scorer.pairwise(["one"], ["two"])
    with pytest.raises(DataError, match="foreign: gave vectors of 3 and of 5 dimensions"):
        scorer.pairwise(["three"], ["four"])


def test_word_vectors_see_chinese_words(tmp_path):
    pytest.importorskip("jieba", reason="jieba is not installed (pip install 'paraphrastic[zh]')")
    (tmp_path / "vectors.txt").write_text("北京 1.0 0.5\n天气 0.5 1.0\n")
    scorer = scorer_of(str(tmp_path / "vectors.txt"), languages=["en", "zh"])
    assert scorer.pairwise(["北京天气"], ["天气北京"])[0] == pytest.approx(1)
    assert scorer_of(str(tmp_path / "vectors.txt")).pairwise(["北京天气"], ["天气北京"])[0] == 0
