"""Initial rows by the letters of pieces."""

from __future__ import annotations

import math
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.training.spelling import runs, spelled_rows

WORDS = ["▁president", "▁président", "▁presidents", "ident", "▁house", "▁houses", "▁a", "house", "▁été", "<unk>", "🙂"]


@given(st.text(max_size=12))
def test_runs_agree_with_their_definition(piece):
    text = "".join(c for c in unicodedata.normalize("NFKD", piece) if not unicodedata.combining(c))
    symbol = piece[:1] == "<" and piece[-1:] == ">"
    ends = [(i, j) for i in range(len(text)) for j in range(len(text) + 1) if 3 <= j - i <= 5]
    assert runs(piece) == (set() if symbol else {text[i:j] for i, j in ends})


def test_the_cosine_of_two_rows_is_what_their_pieces_share():
    rows, there = spelled_rows(WORDS, 20_000, 1)
    shared = [{run for run in runs(word) if sum(run in runs(other) for other in WORDS) > 1} for word in WORDS]
    assert there.tolist() == [bool(own) for own in shared]
    assert not rows[~there].any()
    for i, mine in enumerate(shared):
        for j, theirs in enumerate(shared):
            if mine and theirs:
                expected = len(mine & theirs) / math.sqrt(len(mine) * len(theirs))
                assert rows[i] @ rows[j] / 20_000 == pytest.approx(expected, abs=0.04)  # 4 standard deviations
    assert np.array_equal(rows[0], rows[1])  # spelled alike but for an accent


def test_a_seed_gives_the_same_rows_and_another_seed_others():
    first, second, other = (spelled_rows(WORDS, 100, seed)[0] for seed in (1, 1, 2))
    assert first.dtype == np.float32 and first.shape == (len(WORDS), 100)
    assert np.array_equal(first, second) and not np.allclose(first, other)


def test_a_vocabulary_without_a_shared_run_has_no_such_rows():
    rows, there = spelled_rows(["▁ab", "xyz", "q"], 8, 1)
    assert not there.any() and not rows.any() and rows.shape == (3, 8)
