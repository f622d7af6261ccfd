"""Another encoder's vectors of the pieces, from which training starts."""

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from psp.core.errors import DataError
from psp.training.piece_vectors import embed_pieces, mix_in, read_piece_vectors, turn, whiten


class Letters:
    """Texts as counts of letters; remembers what it was given."""

    segmented = False

    def __init__(self):
        self.seen = []

    def embed(self, texts):
        self.seen += texts
        return np.array([[text.count(letter) for letter in "abcdefgh"] for text in texts], np.float64)


class Pieces:
    """A tokenizer of which only the pieces are asked for."""

    def __init__(self, *pieces, spelled=True):
        self._pieces, self._spelled = list(pieces), spelled

    def pieces(self):
        return self._pieces

    def spellings(self):
        return self._pieces if self._spelled else None

    @staticmethod
    def name_on_disk():
        return "trigram.txt"


PIECES = Pieces("<unk>", "\u2581", "\u2581cab", "cab", "bed", "\u2581\u2581")


def test_each_text_is_embedded_once_and_symbols_have_none(tmp_path):
    encoder = Letters()
    assert embed_pieces(PIECES, encoder, "letters", tmp_path / "pieces.safetensors") == 3
    assert encoder.seen == ["cab", "bed"]
    rows, vectors = read_piece_vectors(tmp_path / "pieces.safetensors", PIECES.pieces())
    assert rows.tolist() == [2, 3, 4] and vectors.dtype == np.float32
    assert np.array_equal(vectors, Letters().embed(["cab", "cab", "bed"]))


def test_what_is_not_the_vectors_of_these_pieces_is_refused(tmp_path):
    path = tmp_path / "pieces.safetensors"
    with pytest.raises(DataError, match=r"pieces\.safetensors: no vectors of pieces, or damaged"):
        read_piece_vectors(path, PIECES.pieces())
    embed_pieces(PIECES, Letters(), "letters", path)
    with pytest.raises(DataError, match="of another vocabulary's pieces"):
        read_piece_vectors(path, [*PIECES.pieces(), "more"])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match="damaged"):
        read_piece_vectors(path, PIECES.pieces())
    save_file(load_file_of(tmp_path), path)
    with pytest.raises(DataError, match="damaged"):
        read_piece_vectors(path, PIECES.pieces())


def load_file_of(folder):
    embed_pieces(PIECES, Letters(), "letters", folder / "other.safetensors")
    return load_file(folder / "other.safetensors")  # without its metadata


def test_pieces_without_text_and_vectors_without_numbers_are_refused(tmp_path):
    class Broken(Letters):
        def embed(self, texts):
            return np.full((len(texts), 3), np.nan)

    with pytest.raises(DataError, match=r"trigram\.txt: its pieces are not text"):
        embed_pieces(Pieces("abc", spelled=False), Letters(), "letters", tmp_path / "out")
    with pytest.raises(DataError, match="not finite"):
        embed_pieces(PIECES, Broken(), "broken", tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.fixture
def narrow():
    """Vectors as an encoder's: far from the origin, with one component above all others."""
    rng = np.random.default_rng(2)
    return (5 + rng.standard_normal((400, 6)) * [9, 3, 1, 1, 0.5, 0.2]).astype(np.float32)


@pytest.mark.parametrize("power", [0, 0.5, 1])
def test_whitening_divides_each_component_by_its_deviation_to_the_power(narrow, power):
    found = whiten(narrow, power)
    assert np.abs(found.mean(axis=0)).max() < 1e-5
    expected = np.linalg.svd(narrow - narrow.mean(axis=0), compute_uv=False) / 20
    assert np.allclose(np.linalg.svd(found, compute_uv=False) / 20, expected ** (1 - power), rtol=1e-3)


def test_a_component_without_variance_is_left_out():
    vectors = np.zeros((5, 3), np.float32)
    vectors[:, 0] = range(5)
    found = whiten(vectors, 1)
    assert np.isfinite(found).all() and np.isclose((found**2).sum() / 5, 1)


def cosines(vectors):
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return unit @ unit.T


def test_the_map_keeps_cosines_and_has_a_variance_of_one(narrow):
    vectors = whiten(narrow, 0.5)
    found = turn(vectors, 32, seed=3)
    assert found.shape == (400, 32) and np.isclose((found**2).mean(), 1, atol=1e-4)
    assert np.allclose(cosines(found), cosines(vectors), atol=1e-4)
    assert not np.allclose(found, turn(vectors, 32, seed=4))
    assert np.allclose(cosines(turn(vectors, 6, seed=3)), cosines(vectors), atol=1e-4)  # as many dimensions
    assert turn(vectors, 4, seed=3).shape == (400, 4)  # fewer: a projection


def test_the_share_is_that_of_the_variance_and_other_rows_stay():
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((2000, 16)).astype(np.float32)
    table = rng.standard_normal((3000, 32)).astype(np.float32)
    before, rows = table.copy(), np.arange(1000, 3000, dtype=np.int32)
    mix_in(table, rows, vectors, share=0.64, whitening=0, seed=1)
    assert np.array_equal(table[:1000], before[:1000])
    turned = turn(whiten(vectors, 0), 32, 1)
    assert np.allclose(table[1000:], 0.8 * turned + 0.6 * before[1000:], atol=1e-5)
    assert np.isclose((table[1000:] ** 2).mean(), 1, atol=0.02)
    mix_in(table, rows, vectors, share=0, whitening=0, seed=1)
    assert np.allclose(table[1000:], 0.8 * turned + 0.6 * before[1000:], atol=1e-5)
