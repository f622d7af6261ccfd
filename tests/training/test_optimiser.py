from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from psp.training.optimiser import WINDOW, DeferredAdam, DenseAdam, clip_gradient, rows_and_values


def sparse(rows: np.ndarray, values: torch.Tensor, size: int) -> torch.Tensor:
    return torch.sparse_coo_tensor(
        torch.from_numpy(rows)[None], values.clone(), (size, values.shape[1]), is_coalesced=True, check_invariants=True
    )


def zipf_rows(rng: np.random.Generator, size: int, draws: int) -> np.ndarray:
    """Distinct rows: a few nearly always, most of them hardly ever."""
    share = 1 / np.arange(1, size + 1) ** 1.2
    return np.unique(rng.choice(size, draws, p=share / share.sum()))


def compare(
    steps: int,
    learning_rate: Callable[[int], float] = lambda step: 1e-3,
    *,
    dtype: torch.dtype = torch.float64,
    scale: float = 1e-6,
    spread: float = 1.0,
    betas: tuple[float, float] = (0.9, 0.999),
    optimiser: type = DeferredAdam,
) -> tuple[float, float]:
    """The largest difference from torch's dense Adam: of rows as they are read, and of all rows in the end.

    Gradients of 1e-6 are those of real training: there the root of the second moment is as small as eps.
    """
    size, dim = 300, 8
    generator, rng = torch.Generator().manual_seed(1), np.random.default_rng(1)
    start = torch.randn(size, dim, generator=generator, dtype=dtype) * spread
    ours, theirs = torch.nn.Parameter(start.clone()), torch.nn.Parameter(start.clone())
    deferred = optimiser([ours], betas=betas)
    dense = torch.optim.Adam([theirs], betas=betas, foreach=False)
    worst = torch.zeros(())
    for step in range(1, steps + 1):
        rows = zipf_rows(rng, size, 20)
        values = torch.randn(len(rows), dim, generator=generator, dtype=dtype) * scale
        deferred.param_groups[0]["lr"] = dense.param_groups[0]["lr"] = learning_rate(step)
        deferred.prepare(ours, rows)
        worst = torch.maximum(worst, (ours[rows] - theirs[rows]).abs().max().detach())
        ours.grad = sparse(rows, values, size)
        theirs.grad = torch.zeros(size, dim, dtype=dtype).index_copy(0, torch.from_numpy(rows), values)
        deferred.step()
        dense.step()
    deferred.prepare(ours, None)
    return float(worst), float((ours - theirs).detach().abs().max())


def warm_up_and_decay(peak: float, warm: int, steps: int) -> Callable[[int], float]:
    return lambda step: peak * min(step / warm, (steps - step + 1) / (steps - warm))


ROUNDED: dict[str, Any] = {"dtype": torch.float32, "spread": 0.03}  # values of the size 0.1, whose steps are small


@pytest.mark.parametrize(
    ("steps", "changes", "near"),
    [
        (1, {}, 1e-8),
        (2, {}, 1e-8),
        (30, {}, 1e-8),
        (200, {}, 1e-8),
        (300, {"learning_rate": warm_up_and_decay(0.05, 15, 300)}, 1e-7),
        (100, {**ROUNDED, "optimiser": DenseAdam}, 1e-6),
        pytest.param(1500, {"learning_rate": warm_up_and_decay(0.05, 100, 1500)}, 1e-7, marks=pytest.mark.slow),
        pytest.param(200, {"scale": 1.0}, 1e-8, marks=pytest.mark.slow),
        pytest.param(200, {"scale": 1e-9}, 1e-8, marks=pytest.mark.slow),
        pytest.param(200, {"betas": (0.5, 0.9)}, 1e-8, marks=pytest.mark.slow),
        pytest.param(200, {"betas": (0.95, 0.98)}, 1e-8, marks=pytest.mark.slow),
        pytest.param(400, ROUNDED, 1e-6, marks=pytest.mark.slow),
    ],
)
def test_it_equals_dense_adam(steps: int, changes: dict[str, Any], near: float) -> None:
    assert max(compare(steps, **changes)) < near


@pytest.mark.slow
def test_a_row_may_be_left_alone_for_longer_than_the_window() -> None:
    generator = torch.Generator().manual_seed(1)
    start = torch.randn(6, 3, generator=generator, dtype=torch.float64)
    ours, theirs = torch.nn.Parameter(start.clone()), torch.nn.Parameter(start.clone())
    deferred, dense = DeferredAdam([ours]), torch.optim.Adam([theirs], foreach=False)
    for step in range(2 * WINDOW + 50):
        rows = np.array([0, 1, 2, 3]) if step == 0 else np.array([0])
        values = torch.randn(len(rows), 3, generator=generator, dtype=torch.float64) * 1e-6
        ours.grad = sparse(rows, values, 6)
        theirs.grad = ours.grad.to_dense()
        deferred.step()
        dense.step()
    deferred.prepare(ours, None)
    assert float((ours - theirs).detach().abs().max()) < 1e-9
    assert torch.equal(ours[4:], start[4:])  # never touched, never moved


def test_dense_gradients_and_groups_are_taken_as_torch_takes_them() -> None:
    generator = torch.Generator().manual_seed(1)
    start = [torch.randn(4, 3, generator=generator, dtype=torch.float64) for _ in range(2)]
    parameters = [[torch.nn.Parameter(part.clone()) for part in start] for _ in range(2)]
    ours, theirs = (
        kind([{"params": [first], "lr": 0.1}, {"params": [second]}], lr=0.01)
        for kind, (first, second) in zip((DeferredAdam, torch.optim.Adam), parameters, strict=True)
    )
    for _ in range(20):
        for mine, other in zip(*parameters, strict=True):
            mine.grad = torch.randn(4, 3, generator=generator, dtype=torch.float64)
            other.grad = mine.grad.clone()
        ours.step()
        theirs.step()
    for mine, other in zip(*parameters, strict=True):
        torch.testing.assert_close(mine, other, rtol=0, atol=1e-12)


def test_the_number_of_threads_changes_no_byte() -> None:
    from psp.core.jit import set_threads

    tables = []
    for threads in (1, 2):
        before = set_threads(threads)
        table = torch.nn.Parameter(torch.randn(200, 33, generator=torch.Generator().manual_seed(1)))
        ours, rng = DeferredAdam([table]), np.random.default_rng(1)
        for _ in range(50):
            rows = zipf_rows(rng, 200, 30)
            table.grad = sparse(rows, torch.from_numpy(rng.standard_normal((len(rows), 33), dtype=np.float32)), 200)
            ours.step()
        ours.prepare(table, None)
        tables.append(table.detach())
        set_threads(before)
    assert torch.equal(*tables)


@pytest.mark.slow
@pytest.mark.parametrize("optimiser", [DeferredAdam, DenseAdam])
def test_moments_never_become_subnormal_and_nothing_else_changes(optimiser: type) -> None:
    """Rows that are touched once, then left alone for a thousand steps."""
    start = torch.randn(50, 4, generator=torch.Generator().manual_seed(1))
    ours, theirs = torch.nn.Parameter(start.clone()), torch.nn.Parameter(start.clone())
    mine, dense = optimiser([ours], lr=0.01), torch.optim.Adam([theirs], lr=0.01, fused=True)
    tiny = torch.finfo(torch.float32).tiny
    for step in range(900):
        rows = np.arange(50) if step == 0 else np.array([0])
        ours.grad = sparse(rows, torch.full((len(rows), 4), 1e-4), 50)
        theirs.grad = ours.grad.to_dense()
        mine.step()
        dense.step()
        if step % 20 == 19:
            mine.prepare(ours, None)
            for moment in ("exp_avg", "exp_avg_sq"):
                values = mine.state[ours][moment]
                assert not ((values != 0) & (values.abs() < tiny)).any(), f"step {step}: {moment}"
    there = dense.state[theirs]["exp_avg"]
    assert ((there != 0) & (there.abs() < tiny)).any()  # torch's own has them: the test tests something
    torch.testing.assert_close(ours, theirs, rtol=0, atol=2e-6)


def test_rows_of_a_gradient_are_added_up_where_they_come_twice() -> None:
    twice = torch.sparse_coo_tensor(
        torch.tensor([[3, 1, 3]]), torch.tensor([[1.0], [2.0], [10.0]]), (5, 1), check_invariants=True
    )
    rows, values = rows_and_values(twice)
    assert rows.tolist() == [1, 3] and values.tolist() == [[2.0], [11.0]]


@pytest.mark.parametrize("largest", [0.5, 3.0, 1000.0])
def test_clipping_scales_all_gradients_to_the_norm(largest: float) -> None:
    dense = torch.full((4, 9), 2.0)  # norm 12
    rows = sparse(np.array([1, 5]), torch.full((2, 2), 2.5), 7)  # norm 5
    assert clip_gradient([dense, rows], largest) == pytest.approx(13)
    assert float(torch.cat([dense.ravel(), rows.to_dense().ravel()]).norm()) == pytest.approx(min(13.0, largest))
    assert (dense == dense[0, 0]).all()
