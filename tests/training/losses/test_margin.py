from __future__ import annotations

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


def test_gradients_are_those_of_finite_differences() -> None:
    generator = torch.Generator().manual_seed(0)
    inputs = [torch.randn(6, 4, dtype=torch.float64, generator=generator, requires_grad=True) for _ in range(3)]
    valid = torch.tensor([True, True, False, True, True, True])
    assert torch.autograd.gradcheck(lambda a, p, n: margin_loss(a, p, n, 2.0, valid), inputs)


def test_no_gradient_once_the_margin_is_kept() -> None:
    anchor = torch.tensor([[1.0, 0.0]], requires_grad=True)
    loss = margin_loss(anchor, torch.tensor([[2.0, 0.0]]), torch.tensor([[0.0, 3.0]]), 0.4, torch.tensor([True]))
    loss.backward()
    assert loss.item() == 0
    assert anchor.grad is not None and not anchor.grad.any()


def test_pairs_without_a_negative_give_neither_loss_nor_gradient() -> None:
    anchor, positive, negative = (torch.randn(2, 3, requires_grad=True) for _ in range(3))
    loss = margin_loss(anchor, positive, negative, 2.0, torch.tensor([False, False]))
    loss.backward()
    assert loss.item() == 0
    for tensor in (anchor, positive, negative):
        assert tensor.grad is not None and not tensor.grad.any()


def test_a_vector_of_zeros_has_cosine_0_and_finite_gradients() -> None:
    anchor = torch.zeros(1, 3, requires_grad=True)
    loss = margin_loss(anchor, torch.ones(1, 3), -torch.ones(1, 3), 0.4, torch.tensor([True]))
    loss.backward()
    assert loss.item() == pytest.approx(0.4)
    assert anchor.grad is not None and anchor.grad.isfinite().all()


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


def test_the_objectives_gradient_is_that_of_finite_differences() -> None:
    vectors = torch.randn(24, 5, generator=torch.Generator().manual_seed(3), dtype=torch.float64, requires_grad=True)
    valid = [torch.tensor([True, True, False, True, True, True]), torch.ones(6, dtype=torch.bool)]
    assert torch.autograd.gradcheck(lambda x: margin_objective(x, valid, 1.0), (vectors,))


def test_zero_vectors_and_pairs_without_negatives_in_the_objective() -> None:
    vectors = torch.zeros(8, 3, requires_grad=True)
    loss = margin_objective(vectors, [torch.tensor([True, False]), torch.tensor([False, False])], 0.4)
    loss.backward()
    assert loss.item() == pytest.approx(0.4)
    assert vectors.grad is not None and vectors.grad.isfinite().all()
