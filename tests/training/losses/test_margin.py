from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from psp.training.losses.margin import margin_loss, margin_objective


def plain(a: np.ndarray, p: np.ndarray, n: np.ndarray, margin: float, valid: np.ndarray) -> float:
    def cosine(x: np.ndarray, y: np.ndarray) -> float:
        return float(x @ y / (np.sqrt(x @ x) * np.sqrt(y @ y)))

    terms = [max(0.0, margin - cosine(x, y) + cosine(x, z)) for x, y, z, v in zip(a, p, n, valid, strict=True) if v]
    return sum(terms) / len(terms)


def test_equals_equation_1_in_float64() -> None:
    a, p, n = np.random.default_rng(1).standard_normal((3, 40, 7))
    valid = np.arange(40) % 5 != 0
    loss = margin_loss(*(torch.from_numpy(x) for x in (a, p, n)), margin=0.4, valid=torch.from_numpy(valid))
    assert loss.item() == pytest.approx(plain(a, p, n, 0.4, valid), rel=1e-12)


def both_ways(vectors: torch.Tensor, valid: list[torch.Tensor], margin: float) -> torch.Tensor:
    """One or two directions of :func:`margin_loss`, by hand."""
    source, target, *negatives = vectors.chunk(2 + len(valid))
    total = vectors.new_zeros(())
    for (anchor, positive), negative, mask in zip(((source, target), (target, source)), negatives, valid, strict=False):
        total = total + margin_loss(anchor, positive, negative, margin, mask)
    return total


@pytest.mark.parametrize("directions", [1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_the_compiled_objective_is_that_of_autograd(directions: int, dtype: torch.dtype) -> None:
    generator = torch.Generator().manual_seed(directions)
    vectors = torch.randn((2 + directions) * 20, 11, generator=generator, dtype=dtype)
    vectors[45] = vectors[5]  # a negative equal to its anchor
    valid = [torch.rand(20, generator=generator) > 0.3 for _ in range(directions)]
    ours, theirs = (vectors.clone().requires_grad_() for _ in range(2))
    loss, expected = margin_objective(ours, valid, 0.4), both_ways(theirs, valid, 0.4)
    (3 * loss).backward()
    (3 * expected).backward()
    torch.testing.assert_close(loss, expected, rtol=0, atol=1e-6)
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=0, atol=1e-6 if dtype == torch.float32 else 1e-8)


@pytest.mark.parametrize("objective", [both_ways, margin_objective])
def test_zero_vectors_have_cosine_0_and_pairs_without_negatives_no_loss(objective: Callable[..., torch.Tensor]) -> None:
    vectors = torch.zeros(8, 3, requires_grad=True)
    loss = objective(vectors, [torch.tensor([True, False]), torch.tensor([False, False])], 0.4)
    loss.backward()
    assert loss.item() == pytest.approx(0.4)
    assert vectors.grad is not None and vectors.grad.isfinite().all()
