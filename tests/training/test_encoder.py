from __future__ import annotations

import numpy as np
import torch
from small_pairs import rows_of, sentences

from psp.training.encoder import dropped_mean_vectors, mean_vectors, normal_table

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


def test_without_dropout_both_paths_agree_in_value_and_gradient() -> None:
    values, gradients = [], []
    for path in (mean_vectors, lambda *a: dropped_mean_vectors(*a, 0.0, torch.Generator())):
        table = normal_table(5, 8, seed=2).requires_grad_()
        vectors = path(table, *batch())
        (vectors**2).sum().backward()
        values.append(vectors.detach())
        gradients.append(table.grad)
    torch.testing.assert_close(values[0], values[1], rtol=0, atol=1e-6)
    torch.testing.assert_close(gradients[0], gradients[1], rtol=0, atol=1e-6)


def test_dropout_keeps_the_expectation_and_zeroes_elements() -> None:
    table = torch.arange(1.0, 6.0)[:, None].repeat(1, 50_000)  # every column is a draw of its own
    dropped = dropped_mean_vectors(table, *batch(), 0.3, torch.Generator().manual_seed(5))
    expected = mean_vectors(table, *batch())
    torch.testing.assert_close(dropped.mean(dim=1), expected.mean(dim=1), rtol=0.02, atol=0)
    single = dropped[1]  # a sentence of one token, whose vector is all ones: each element is 0 or divided by 0.7
    assert abs(float((single == 0).float().mean()) - 0.3) < 0.02
    torch.testing.assert_close(single[single != 0], torch.tensor(1 / 0.7).expand(int((single != 0).sum())))


def test_occurrences_of_a_token_draw_their_own_noise() -> None:
    table, generator = torch.ones(1, 4000), torch.Generator().manual_seed(1)
    pair = dropped_mean_vectors(table, torch.tensor([0, 0]), torch.tensor([0, 1, 2]), 0.5, generator)
    assert 0.4 < float((pair[0] == pair[1]).float().mean()) < 0.6


def test_dropout_repeats_with_its_generator_and_leaves_the_global_one_alone() -> None:
    table, state = normal_table(5, 8, seed=2), torch.get_rng_state()
    first, second = (dropped_mean_vectors(table, *batch(), 0.5, torch.Generator().manual_seed(9)) for _ in range(2))
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), state)


def test_the_initial_table_is_standard_normal_and_seeded() -> None:
    table = normal_table(500, 200, seed=1).numpy()
    assert abs(table.mean()) < 0.02 and abs(table.std() - 1) < 0.02
    np.testing.assert_array_equal(table, normal_table(500, 200, seed=1).numpy())
    assert (table != normal_table(500, 200, seed=2).numpy()).any()
