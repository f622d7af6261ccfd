"""Retrieval by nearest neighbour, and the codes of its test sets."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from psp import testsets
from psp.errors import DataError
from psp.evaluation import tatoeba
from psp.languages import NAMES, TATOEBA


class Fixed:
    """A scorer with a given matrix."""

    def __init__(self, matrix):
        self.matrix = np.asarray(matrix, dtype=np.float64)

    def pairwise(self, a, b):
        return np.diag(self.matrix)

    def cross(self, a, b):
        return self.matrix


def write(folder: Path, foreign: bytes, english: bytes) -> tuple[Path, Path]:
    paths = testsets.tatoeba_files(folder, "fr")
    paths[0].write_bytes(foreign)
    paths[1].write_bytes(english)
    return paths


@given(hnp.arrays(np.int8, st.integers(1, 8).map(lambda n: (n, n)), elements=st.integers(0, 3)))
def test_errors_in_both_directions_equal_a_plain_search(matrix):
    n = len(matrix)
    foreign, english = [f"f{i}" for i in range(n)], [f"e{i}" for i in range(n)]
    found = tatoeba.score(Fixed(matrix), foreign, english, "fra")

    def plain(rows):
        # The first of the best candidates, as a search that keeps the first one it meets.
        return sum(max(range(n), key=lambda j: (rows[i][j], -j)) != i for i in range(n))

    assert found["fra-eng"]["errors"] == plain(matrix.tolist())
    assert found["eng-fra"]["errors"] == plain(matrix.T.tolist())
    assert found["fra-eng"]["error"] == pytest.approx(100 * plain(matrix.tolist()) / n, abs=1e-4)
    assert found["fra-eng"]["pairs"] == n


def test_directions_are_not_confused():
    # Every foreign sentence finds English sentence 0; every English one finds its own.
    matrix = [[9, 1, 1], [8, 7, 1], [8, 1, 7]]
    found = tatoeba.score(Fixed(matrix), ["a", "b", "c"], ["x", "y", "z"], "fra")
    assert found["fra-eng"]["errors"] == 2
    assert found["eng-fra"]["errors"] == 0


def test_the_right_text_elsewhere_is_an_error_and_a_duplicate():
    # English 0 and 1 are one text, and a tie goes to the first: foreign 1 finds index 0.
    found = tatoeba.score(Fixed([[1, 1, 0], [1, 1, 0], [1, 0, 0]]), ["a", "b", "c"], ["x", "x", "z"], "fra")
    assert found["fra-eng"] | {"interval": None} == {
        "error": 66.6667,
        "interval": None,
        "errors": 2,
        "duplicates": 1,
        "pairs": 3,
    }


def test_reading_keeps_lines_that_only_line_feeds_end(tmp_path):
    paths = write(tmp_path, "un\u2028deux\r\ntrois\rquatre\u0085\n".encode(), b"one two\nthree four")
    foreign, english = testsets.read_tatoeba(*paths)
    assert foreign == ["un\u2028deux", "trois\rquatre\u0085"]
    assert english == ["one two", "three four"]


@pytest.mark.parametrize(
    ("foreign", "english", "message"),
    [
        (b"un\ndeux\n", b"one\n", r"tatoeba\.fra-eng\.fra: 2 lines, but 1 in"),
        (b"un\n \n", b"one\ntwo\n", r"tatoeba\.fra-eng\.fra, line 2: an empty sentence"),
        (b"un\n\xff\n", b"one\ntwo\n", r"tatoeba\.fra-eng\.fra, line 2: not UTF-8"),
        (b"", b"", r"tatoeba\.fra-eng\.fra: no sentences"),
    ],
)
def test_bad_files_are_named(tmp_path, foreign, english, message):
    with pytest.raises(DataError, match=message):
        testsets.read_tatoeba(*write(tmp_path, foreign, english))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"tatoeba\.fra-eng\.fra: cannot be read: No such file"):
        testsets.read_tatoeba(*testsets.tatoeba_files(tmp_path, "fr"))


@pytest.mark.parametrize(
    ("language", "iso3"),
    [("fr", "fra"), ("zh", "cmn"), ("sw", "swh"), ("fa", "pes"), ("no", "nob"), ("ceb", "ceb"), ("en", None)],
)
def test_codes(language, iso3):
    assert testsets.tatoeba_code(language) == iso3


def test_a_language_without_a_set_is_an_error(tmp_path):
    with pytest.raises(DataError, match="no Tatoeba test set for the language 'en'"):
        testsets.tatoeba_files(tmp_path, "en")


def test_every_language_has_a_name():
    assert set(TATOEBA) <= set(NAMES)
    assert NAMES["zh"] == "Mandarin Chinese"


@pytest.mark.skipif("PSP_DATA" not in os.environ, reason="PSP_DATA, the folder of real data, is not set")
def test_the_table_of_codes_is_that_of_the_published_files():
    folder = Path(os.environ["PSP_DATA"]) / "eval" / "tatoeba" / "v1"
    published = {path.name.split(".")[1].removesuffix("-eng") for path in folder.glob("tatoeba.*-eng.eng")}
    assert len(published) == 112
    assert set(TATOEBA.values()) == published
    for language in TATOEBA:
        foreign, english = testsets.read_tatoeba(*testsets.tatoeba_files(folder, language))
        assert 0 < len(foreign) == len(english) <= 1000
