from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from psp.core.jit import set_threads
from psp.text.tokenizer import Encoded
from psp.training.encoders.mean import (
    MeanEncoder,
    drop_tokens,
    dropped_mean_vectors,
    kept_elements,
    mean_vectors,
    noise_keys,
    normal_table,
)
from tests.conftest import rows_of
from tests.training.conftest import sentences

ROWS = [[3, 1, 1], [0], [], [2, 3, 4, 0, 1], [4]]


def batch() -> tuple[torch.Tensor, torch.Tensor]:
    block = sentences(ROWS)
    return torch.from_numpy(block.ids).long(), torch.from_numpy(block.offsets)


def test_a_sentence_is_the_mean_of_its_rows() -> None:
    table = torch.randn(5, 8)
    vectors = mean_vectors(table, *batch())
    for row, vector in zip(ROWS, vectors, strict=True):
        expected = table[row].mean(dim=0) if row else torch.zeros(8)
        torch.testing.assert_close(vector, expected)
    assert rows_of(sentences(ROWS)) == ROWS


def learn(encoder: MeanEncoder, block: Encoded, upstream: torch.Tensor, step: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Vectors, and the table's gradient for a gradient of the vectors."""
    vectors = encoder(block, step)
    vectors.backward(upstream)
    assert encoder.table.grad is not None and encoder.table.grad.is_sparse
    return vectors.detach(), encoder.table.grad.to_dense()


def plain(
    table: torch.Tensor, block: Encoded, dropout: float, upstream: torch.Tensor, step: int
) -> tuple[torch.Tensor, ...]:
    """The same by torch's own operations and its autograd."""
    table = table.clone().requires_grad_()
    ids, offsets = torch.from_numpy(block.ids).long(), torch.from_numpy(block.offsets)
    if dropout:
        kept = kept_elements(torch.from_numpy(noise_keys(block.offsets, 7, step)), table.shape[1], dropout)
        vectors = dropped_mean_vectors(table, ids, offsets, kept, dropout)
    else:
        vectors = mean_vectors(table, ids, offsets)
    vectors.backward(upstream)
    assert table.grad is not None
    return vectors.detach(), table.grad


@settings(max_examples=30)
@given(
    rows=st.lists(st.lists(st.integers(0, 9), max_size=6), min_size=1, max_size=12),
    dim=st.sampled_from([1, 2, 7, 32, 65]),
    dropout=st.sampled_from([0.0, 0.1, 0.5]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    id_type=st.sampled_from([np.int32, np.uint16]),
    step=st.integers(0, 5),
)
def test_vectors_and_row_gradients_are_those_of_autograd(
    rows: list[list[int]], dim: int, dropout: float, dtype: torch.dtype, id_type: type, step: int
) -> None:
    generator = torch.Generator().manual_seed(1)
    table = torch.randn(10, dim, generator=generator, dtype=dtype)
    upstream = torch.randn(len(rows), dim, generator=generator, dtype=dtype)
    block = sentences(rows)
    block = Encoded(block.ids.astype(id_type), block.offsets)
    ours = learn(MeanEncoder(table.clone(), dropout, seed=7), block, upstream, step)
    for mine, theirs in zip(ours, plain(table, block, dropout, upstream, step), strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-5 if dtype == torch.float32 else 1e-12)


def test_rows_are_told_before_they_are_read() -> None:
    told: list[list[int]] = []
    encoder = MeanEncoder(torch.zeros(6, 4), before_read=lambda table, rows: told.append(rows.tolist()))
    encoder.encode(sentences([[3, 1], [3]]))
    encoder(sentences([[5, 0, 5]]), step=1)
    assert told == [[1, 3], [0, 5]]


def test_dropout_keeps_the_expectation_and_zeroes_elements() -> None:
    dim = 50_000
    table = torch.arange(1.0, 6.0)[:, None].repeat(1, dim)  # every column is a draw of its own
    dropped = MeanEncoder(table.clone(), 0.3, seed=5)(sentences(ROWS), step=1).detach()
    expected = mean_vectors(table, *batch())
    torch.testing.assert_close(dropped.mean(dim=1), expected.mean(dim=1), rtol=0.02, atol=0)
    single = dropped[1]  # a sentence of one token, whose vector is all ones: each element is 0 or divided by 0.7
    assert abs(float((single == 0).float().mean()) - 0.3) < 0.02
    torch.testing.assert_close(single[single != 0], torch.tensor(1 / 0.7).expand(int((single != 0).sum())))


def test_noise_is_independent_between_tokens_steps_seeds_and_elements() -> None:
    offsets = np.arange(0, 201)  # sentences of one token
    draws = {
        name: kept_elements(torch.from_numpy(noise_keys(offsets, seed, step)), 400, 0.5).float()
        for name, seed, step in (("one", 1, 1), ("step", 1, 2), ("seed", 2, 1))
    }
    one = draws["one"]
    # Agreement of fair coins: 80,000 of them give 0.5 within 0.0018 (one sigma); neighbours in all directions.
    for other in (draws["step"], draws["seed"], one.roll(1, 0), one.roll(1, 1), one.roll(200, 1)):
        assert abs(float((one == other).float().mean()) - 0.5) < 0.009
    assert abs(float(one.mean()) - 0.5) < 0.009


@pytest.mark.parametrize("dropout", [0.0, 0.3])
def test_the_number_of_threads_changes_no_byte(dropout: float) -> None:
    rng = np.random.default_rng(1)
    block = sentences([rng.integers(0, 40, rng.integers(0, 9)).tolist() for _ in range(100)])
    table, upstream, found = torch.randn(40, 70), torch.randn(100, 70), []
    for threads in (1, 2):
        before = set_threads(threads)
        found.append(learn(MeanEncoder(table.clone(), dropout, seed=7), block, upstream, step=4))
        set_threads(before)
    assert all(torch.equal(one, two) for one, two in zip(*found, strict=True))


def test_the_initial_table_is_standard_normal_and_seeded() -> None:
    table = normal_table(500, 200, seed=1).numpy()
    assert abs(table.mean()) < 0.02 and abs(table.std() - 1) < 0.02
    np.testing.assert_array_equal(table, normal_table(500, 200, seed=1).numpy())
    assert (table != normal_table(500, 200, seed=2).numpy()).any()


@given(
    lengths=st.lists(st.integers(0, 9), max_size=30),
    dropout=st.sampled_from([0.0, 0.1, 0.5, 0.99]),
    step=st.integers(0, 5),
)
def test_token_dropout_leaves_out_tokens_and_no_sentence(lengths: list[int], dropout: float, step: int) -> None:
    rows = [list(range(10 * i, 10 * i + length)) for i, length in enumerate(lengths)]
    left = rows_of(drop_tokens(sentences(rows), dropout, seed=3, step=step))
    assert len(left) == len(rows)
    for whole, part in zip(rows, left, strict=True):
        assert set(part) <= set(whole) and part == sorted(part) and bool(part) == bool(whole)
        assert dropout or part == whole


def test_token_dropout_is_as_often_as_it_says_and_belongs_to_its_place() -> None:
    block = sentences([list(range(200))] * 100)
    whole = drop_tokens(block, 0.3, seed=1, step=7)
    assert len(whole.ids) / len(block.ids) == pytest.approx(0.7, abs=0.02)
    assert len(drop_tokens(block, 0.3, seed=1, step=8).ids) != len(whole.ids)
    assert rows_of(drop_tokens(block, 0.3, seed=1, step=7)) == rows_of(whole)


def test_an_encoder_with_token_dropout_takes_the_mean_of_what_is_left() -> None:
    table = torch.randn(300, 8, generator=torch.Generator().manual_seed(1))
    block = sentences([list(range(30 * i, 30 * i + 30)) for i in range(10)])
    encoder = MeanEncoder(table.clone(), seed=5, token_dropout=0.4)
    found = encoder(block, step=2).detach()
    for read, vectors in ((drop_tokens(block, 0.4, 5, 2), found), (block, encoder.encode(block))):
        ids, offsets = torch.from_numpy(read.ids).long(), torch.from_numpy(read.offsets)
        torch.testing.assert_close(vectors, mean_vectors(table, ids, offsets))
