from __future__ import annotations

import numpy as np
import pytest
import torch

from psp.training.loss import margin_loss


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
