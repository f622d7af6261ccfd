"""InfoNCE: its fast form against its definition, and the definition against a loop."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from psp.training.losses.infonce import _reduced, infonce_objective
from tests.training.losses.reference import infonce_loss


def drawn(pairs: int, dim: int, seed: int = 0, dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(2 * pairs, dim, generator=torch.Generator().manual_seed(seed), dtype=dtype)


def refusals(pairs: int, seed: int, share: float = 0.3) -> Tensor:
    return torch.rand(pairs, pairs, generator=torch.Generator().manual_seed(seed)) < share


def plain(vectors: Tensor, margin: float, scale: float, refused: Tensor | None) -> float:
    """One sentence at a time."""
    source, target = (side.tolist() for side in vectors.chunk(2))
    if refused is None:
        refused = torch.zeros(len(source), len(source), dtype=torch.bool)

    def cosine(a: list[float], b: list[float]) -> float:
        return sum(x * y for x, y in zip(a, b, strict=True)) / math.hypot(*a) / math.hypot(*b)

    total = 0.0
    for anchors, others, no in ((source, target, refused), (target, source, refused.T)):
        for i, anchor in enumerate(anchors):
            own = scale * (cosine(anchor, others[i]) - margin)
            rest = [scale * cosine(anchor, other) for j, other in enumerate(others) if j != i and not no[i, j]]
            total += math.log(sum(map(math.exp, [own, *rest]))) - own
    return total / (2 * len(source))


@pytest.mark.parametrize("masked", [False, True])
def test_the_loss_is_its_definition(masked: bool) -> None:
    vectors = drawn(9, 5)
    refused = refusals(9, 1) if masked else None
    for margin, scale in ((0.0, 1.0), (0.3, 20.0)):
        expected = plain(vectors, margin, scale, refused)
        assert float(infonce_loss(*vectors.chunk(2), margin, scale, refused)) == pytest.approx(expected)
        assert float(infonce_objective(vectors, margin, scale, refused, reduced=False)) == pytest.approx(expected)


@given(
    pairs=st.integers(1, 12),
    dim=st.integers(1, 9),
    margin=st.sampled_from([0.0, 0.3]),
    scale=st.sampled_from([1.0, 20.0, 40.0]),
    share=st.sampled_from([None, 0.3, 1.0]),
    seed=st.integers(0, 99),
)
def test_loss_and_gradient_are_those_of_torch(
    pairs: int, dim: int, margin: float, scale: float, share: float | None, seed: int
) -> None:
    vectors = drawn(pairs, dim, seed).requires_grad_()
    refused = None if share is None else refusals(pairs, seed, share)
    expected = infonce_loss(*vectors.chunk(2), margin, scale, refused)
    (slope,) = torch.autograd.grad(expected * 3, vectors)
    found = infonce_objective(vectors, margin, scale, refused, reduced=False)
    (ours,) = torch.autograd.grad(found * 3, vectors)
    torch.testing.assert_close(found, expected)
    torch.testing.assert_close(ours, slope)


def test_zero_vectors_have_no_say_and_no_nan() -> None:
    vectors = drawn(5, 4)
    vectors[[1, 7]] = 0
    vectors.requires_grad_()
    loss = infonce_objective(vectors, 0.3, 20.0, reduced=False)
    expected = infonce_loss(*vectors.chunk(2), 0.3, 20.0)
    torch.testing.assert_close(loss, expected)
    (gradient,) = torch.autograd.grad(loss, vectors)
    assert torch.isfinite(gradient).all()


def test_on_a_gpu_products_are_reduced_for_mixed_precision_alone() -> None:
    vectors = SimpleNamespace(device=torch.device("cuda"))
    assert not _reduced(vectors, None)
    torch.set_autocast_enabled("cuda", True)
    try:
        assert _reduced(vectors, None) and not _reduced(vectors, False)
    finally:
        torch.set_autocast_enabled("cuda", False)
