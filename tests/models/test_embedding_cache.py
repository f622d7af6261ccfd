"""Vectors of other encoders are computed once, by whichever process is first."""

import numpy as np
import pytest

from psp.core.errors import DataError
from psp.models import embedding_cache
from psp.models.embedding_cache import CachedEncoder


class Counting:
    """Embeds a text as its length and first letter, and remembers what it was asked."""

    segmented = False

    def __init__(self, dim=2):
        self.asked, self.dim = [], dim

    def embed(self, texts):
        self.asked.append(list(texts))
        rows = [[len(text), ord(text[0])][: self.dim] for text in texts]
        return np.array(rows, np.float32).reshape(len(texts), self.dim)


@pytest.fixture
def encoder():
    return Counting()


def test_each_text_is_embedded_once_in_any_process(encoder, tmp_path, monkeypatch):
    monkeypatch.setattr(embedding_cache, "BLOCK", 2)
    texts = ["one", "three", "one", "two", "äh", "\ud800"]
    expected = Counting().embed(texts)
    first = CachedEncoder(encoder, "id", tmp_path, "it")
    np.testing.assert_array_equal(first.embed(texts), expected)
    assert encoder.asked == [["one", "three"], ["two", "äh"], ["\ud800"]]
    np.testing.assert_array_equal(first.embed(texts[::-1]), expected[::-1])
    again = CachedEncoder(encoder, "id", tmp_path, "it")
    np.testing.assert_array_equal(again.embed([*texts, "new"]), Counting().embed([*texts, "new"]))
    assert encoder.asked[3:] == [["new"]]
    assert again.embed(texts).dtype == np.float32 and again.embed([]).shape == (0, 2)


def test_another_encoder_has_vectors_of_its_own(encoder, tmp_path):
    CachedEncoder(encoder, "id", tmp_path, "it").embed(["one"])
    other = Counting(dim=1)
    assert CachedEncoder(other, "other", tmp_path, "other").embed(["one"]).shape == (1, 1)
    with pytest.raises(DataError, match="it has given vectors of 1 and 2 dimensions"):
        CachedEncoder(other, "id", tmp_path, "it").embed(["one", "two"])


def test_vectors_that_are_not_finite_are_not_kept(encoder, tmp_path):
    def broken(texts):
        return np.full((len(texts), 2), np.nan)

    encoder.embed, right = broken, encoder.embed
    assert np.isnan(CachedEncoder(encoder, "id", tmp_path, "it").embed(["one"])).all()
    encoder.embed = right
    np.testing.assert_array_equal(CachedEncoder(encoder, "id", tmp_path, "it").embed(["one"]), [[3, ord("o")]])


@pytest.mark.parametrize("end", ["keys", "vectors"])
def test_a_truncated_file_is_named(encoder, tmp_path, end):
    CachedEncoder(encoder, "id", tmp_path, "it").embed(["one", "two"])
    (path,) = tmp_path.glob(f"id/*.{end}.npy")
    path.write_bytes(path.read_bytes()[:-3])
    with pytest.raises(DataError, match=r"\.keys\.npy: damaged, or its \.vectors\.npy is .* delete both"):
        CachedEncoder(encoder, "id", tmp_path, "it").embed(["one"])


def test_a_run_killed_between_the_two_files_is_gone_on_from(encoder, tmp_path):
    CachedEncoder(encoder, "id", tmp_path, "it").embed(["one"])
    for path in tmp_path.glob("id/*.keys.npy"):
        path.unlink()
    assert CachedEncoder(encoder, "id", tmp_path, "it").embed(["one"]).shape == (1, 2)
    assert len(encoder.asked) == 2
