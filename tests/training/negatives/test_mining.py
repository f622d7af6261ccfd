from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.pairs.encoded_pairs import Pairs
from psp.text.tokenizer import Encoded
from psp.training.negatives.mining import Excluded, Negatives, draw, mine, mine_by_kind, text_hashes
from tests.conftest import rows_of
from tests.training.conftest import sentences


def naive(
    source: Encoded,
    target: Encoded,
    s: np.ndarray,
    t: np.ndarray,
    mask_equal: bool,
    negatives: str,
    paraphrase: np.ndarray | None = None,
) -> Negatives:
    """One query at a time, texts compared as lists."""
    texts = [*rows_of(source), *rows_of(target)]
    vectors = np.concatenate([s, t]).astype(np.float64)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    n = len(s)

    def hardest(query: int) -> int:
        best, best_value = -1, -np.inf
        for candidate in range(2 * n):
            i, j = query % n, candidate % n
            where = negatives
            if paraphrase is not None:
                if paraphrase[i] != paraphrase[j]:
                    continue
                if negatives == "auto":
                    where = "any" if paraphrase[i] else "opposite"
            if where == "opposite" and (query < n) == (candidate < n):
                continue
            if where == "same" and (query < n) != (candidate < n):
                continue
            if i == j:
                continue
            if mask_equal and any(a == b for a in (texts[i], texts[n + i]) for b in (texts[j], texts[n + j])):
                continue
            value = float(vectors[query] @ vectors[candidate])
            if value > best_value:
                best, best_value = candidate, value
        return best

    found = np.array([hardest(query) for query in range(2 * n)])
    return Negatives(found[:n], found[n:])


def random_sentences(rng: np.random.Generator, count: int, vocabulary: int, length: int) -> Encoded:
    return sentences([rng.integers(0, vocabulary, rng.integers(1, length + 1)).tolist() for _ in range(count)])


@pytest.mark.parametrize("negatives", ["opposite", "same", "any"])
@pytest.mark.parametrize("mask_equal", [True, False])
@pytest.mark.parametrize(("count", "chunk"), [(2, 1), (37, 8), (64, 64), (65, 32), (50, 1000)])
def test_equals_a_plain_loop_over_queries(negatives: str, mask_equal: bool, count: int, chunk: int) -> None:
    rng = np.random.default_rng(count)
    # One or two of 5 tokens: many equal texts, within a side and across.
    source, target = random_sentences(rng, count, 5, 2), random_sentences(rng, count, 5, 2)
    s, t = rng.standard_normal((2, count, 16)).astype(np.float32)  # random vectors: no ties
    found = mine(
        torch.from_numpy(s), torch.from_numpy(t), Excluded(source, target, mask_equal), negatives, chunk_rows=chunk
    )
    expected = naive(source, target, s, t, mask_equal, negatives)
    np.testing.assert_array_equal(found.source, expected.source)
    np.testing.assert_array_equal(found.target, expected.target)
    assert (found.source >= 0).any() or count == 2


@pytest.mark.parametrize("negatives", ["auto", "opposite", "same", "any"])
@pytest.mark.parametrize("mask_equal", [True, False])
@pytest.mark.parametrize("share", [0.0, 0.02, 0.5, 1.0])
@pytest.mark.parametrize(("count", "chunk"), [(50, 16), (101, 1000)])
def test_of_mixed_kinds_each_has_candidates_of_its_own(
    negatives: str, mask_equal: bool, share: float, count: int, chunk: int
) -> None:
    rng = np.random.default_rng(count)
    source, target = random_sentences(rng, count, 5, 2), random_sentences(rng, count, 5, 2)
    paraphrase = np.zeros(count, dtype=bool)
    paraphrase[rng.permutation(count)[: int(share * count)]] = True  # 0.02 x 50: one, which has no candidate
    s, t = rng.standard_normal((2, count, 16)).astype(np.float32)
    found = mine_by_kind(
        Pairs(source, target, paraphrase),
        torch.from_numpy(s),
        torch.from_numpy(t),
        negatives=negatives,
        mask_equal=mask_equal,
        chunk_rows=chunk,
    )
    expected = naive(source, target, s, t, mask_equal, negatives, paraphrase)
    np.testing.assert_array_equal(found.source, expected.source)
    np.testing.assert_array_equal(found.target, expected.target)
    alone = paraphrase if paraphrase.sum() == 1 else np.zeros(count, dtype=bool)
    assert (found.source[alone] == -1).all() and (found.target[alone] == -1).all()
    if negatives == "auto":
        assert (found.source[~paraphrase] >= count)[found.source[~paraphrase] >= 0].all()
        if share >= 0.5:  # paraphrases find negatives on both sides
            assert (found.source[paraphrase] < count).any() and (found.source[paraphrase] >= count).any()


@pytest.mark.parametrize("negatives", ["opposite", "same", "any"])
@pytest.mark.parametrize("kinds", [3, 12])
def test_of_equally_similar_ones_the_first_is_taken(negatives: str, kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    text = sentences([[i] for i in range(60)])
    s, t = np.eye(kinds, dtype=np.float32)[rng.integers(0, kinds, (2, 60))]  # cosines are exactly 0 or 1
    found = mine(torch.from_numpy(s), torch.from_numpy(t), Excluded(text, text, False), negatives, chunk_rows=16)
    expected = naive(text, text, s, t, False, negatives)
    if negatives == "any":  # its two sides are searched one after the other: compare how similar they are
        both, rows = np.concatenate([s, t]), np.arange(60)
        for side, mine_, theirs in ((s, found.source, expected.source), (t, found.target, expected.target)):
            assert (mine_ % 60 != rows).all()
            np.testing.assert_array_equal((side * both[mine_]).sum(axis=1), (side * both[theirs]).sum(axis=1))
        return
    np.testing.assert_array_equal(found.source, expected.source)
    np.testing.assert_array_equal(found.target, expected.target)


@settings(max_examples=60)
@given(st.lists(st.lists(st.integers(0, 3), max_size=4), min_size=1, max_size=40))
def test_hashes_are_equal_exactly_when_texts_are(rows: list[list[int]]) -> None:
    hashes = text_hashes(sentences(rows)).tolist()
    for i, a in enumerate(rows):
        for j, b in enumerate(rows):
            assert (hashes[i] == hashes[j]) == (a == b)


def test_hashes_do_not_collide_on_many_neighbouring_texts() -> None:
    ids = np.indices((400, 500)).reshape(2, -1).T.astype(np.int32)  # 200,000 texts of two tokens
    hashes = text_hashes(Encoded(ids.ravel(), np.arange(0, 2 * len(ids) + 1, 2, dtype=np.int64)))
    assert len(np.unique(hashes)) == len(ids)


@pytest.mark.parametrize("mask_equal", [True, False])
@pytest.mark.parametrize("count", [1, 2, 7, 200])
def test_random_negatives_are_allowed_ones_and_of_the_other_side(mask_equal: bool, count: int) -> None:
    rng = np.random.default_rng(count)
    source, target = random_sentences(rng, count, 5, 2), random_sentences(rng, count, 5, 2)
    excluded = Excluded(source, target, mask_equal)
    rows, columns = excluded.places(np.arange(count))
    forbidden = set(zip(rows.tolist(), columns.tolist(), strict=True))
    found = draw(excluded, count, np.random.default_rng(1))
    for query, (of_source, of_target) in enumerate(zip(found.source.tolist(), found.target.tolist(), strict=True)):
        free = [column for column in range(count) if (query, column) not in forbidden]
        for chosen, shift in ((of_source, count), (of_target, 0)):
            assert (chosen - shift in free) if free else chosen == -1


@pytest.mark.slow
def test_random_negatives_are_drawn_evenly() -> None:
    block = sentences([[i] for i in range(5)])
    rng = np.random.default_rng(4)
    drawn = np.array([draw(Excluded(block, block, True), 5, rng).source - 5 for _ in range(1500)])
    for row in range(5):
        shares = np.bincount(drawn[:, row], minlength=5) / 1500
        assert shares[row] == 0 and np.abs(np.delete(shares, row) - 0.25).max() < 0.05


@pytest.mark.parametrize("negatives", ["auto", "opposite", "same", "any", "random"])
@pytest.mark.parametrize("mask_equal", [True, False])
@pytest.mark.parametrize("reduced", [True, False])
def test_those_of_sources_are_the_same_if_nobody_asks_for_those_of_targets(
    negatives: str, mask_equal: bool, reduced: bool
) -> None:
    rng = np.random.default_rng(7)
    source, target = random_sentences(rng, 90, 5, 2), random_sentences(rng, 90, 5, 2)
    pairs = Pairs(source, target, rng.random(90) < 0.3)
    s, t = (torch.from_numpy(x) for x in rng.standard_normal((2, 90, 16)).astype(np.float32))
    found = []
    for asked in (True, False):
        generator = np.random.default_rng(1)
        found.append(
            mine_by_kind(
                pairs, s.clone(), t.clone(), negatives=negatives, mask_equal=mask_equal, of_targets=asked,
                generator=generator, reduced=reduced, chunk_rows=32,
            )
        )  # fmt: skip
    np.testing.assert_array_equal(found[0].source, found[1].source)
    assert (found[0].target >= 0).any() and ((found[1].target == -1).all() or negatives == "random")
