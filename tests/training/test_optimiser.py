from __future__ import annotations

import pytest
import torch

from psp.training.optimiser import DenseAdam, clip_gradient


def test_equals_torch_adam_on_the_dense_gradient() -> None:
    generator = torch.Generator().manual_seed(0)
    table = torch.randn(30, 6, generator=generator)
    reference = torch.nn.Parameter(table.clone())
    adam = torch.optim.Adam([reference], lr=0.01, foreach=False, fused=False)
    ours = DenseAdam(table, 0.01)
    for _ in range(25):
        rows = torch.randperm(30, generator=generator)[:4]
        gradient = torch.randn(4, 6, generator=generator)
        reference.grad = torch.zeros(30, 6)
        reference.grad[rows] = gradient
        adam.step()
        ours.prepare(rows)
        ours.step(rows, gradient)
    torch.testing.assert_close(table, reference.detach(), rtol=0, atol=1e-6)


def test_rows_without_gradient_move_on_as_adam_has_it() -> None:
    table = torch.zeros(3, 2)
    ours = DenseAdam(table, 0.1)
    ours.step(torch.tensor([0]), torch.ones(1, 2))
    after_one = table.clone()
    ours.step(torch.tensor([1]), torch.ones(1, 2))
    assert (table[0] < after_one[0]).all()  # its first moment is still there
    assert not table[2].any()


@pytest.mark.parametrize("largest", [0.5, 3.0, 1000.0])
def test_clipping_scales_the_whole_gradient_to_the_norm(largest: float) -> None:
    gradient = torch.full((4, 9), 2.0)  # norm 12
    assert clip_gradient(gradient, largest) == pytest.approx(12)
    assert float(gradient.norm()) == pytest.approx(min(12.0, largest))
    assert (gradient == gradient[0, 0]).all()


def test_moments_never_become_subnormal_and_nothing_else_changes() -> None:
    """Rows that are touched once, then left alone for a thousand steps."""
    table = torch.randn(50, 4, generator=torch.Generator().manual_seed(1))
    reference = torch.nn.Parameter(table.clone())
    adam = torch.optim.Adam([reference], lr=0.01, fused=True)
    ours = DenseAdam(table, 0.01)
    tiny = torch.finfo(torch.float32).tiny
    for step in range(900):
        rows = torch.arange(50) if step == 0 else torch.tensor([0])
        gradient = torch.full((len(rows), 4), 1e-4)
        reference.grad = torch.zeros(50, 4)
        reference.grad[rows] = gradient
        adam.step()
        ours.step(rows, gradient)
        for moment in ("exp_avg", "exp_avg_sq") if step % 20 == 19 else ():
            values = ours._adam.state[ours._parameter][moment]
            assert not ((values != 0) & (values.abs() < tiny)).any(), f"step {step}: {moment}"
    there = adam.state[reference]["exp_avg"]
    assert ((there != 0) & (there.abs() < tiny)).any()  # torch's own has them: the test tests something
    assert torch.equal(table, reference.detach())
