"""The fused loss against torch's."""

import pytest
import torch
from torch.nn import functional as F

from psp.training.translator.loss import BLOCK, smoothed_cross_entropy


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_it_is_torchs_cross_entropy_and_so_are_its_gradients(smoothing):
    generator = torch.Generator().manual_seed(1)
    rows = BLOCK + 7  # more than a block
    hidden = torch.randn(rows, 8, generator=generator)
    weight = torch.randn(50, 8, generator=generator)
    target = torch.randint(0, 50, (rows,), generator=generator)
    found = []
    for ours in (True, False):
        vectors, matrix = hidden.clone().requires_grad_(), weight.clone().requires_grad_()
        if ours:
            loss = smoothed_cross_entropy(vectors, matrix, target, smoothing)
        else:
            loss = F.cross_entropy(vectors @ matrix.T, target, reduction="sum", label_smoothing=smoothing)
        (loss / 3).backward()
        found.append((loss.detach(), vectors.grad, matrix.grad))
    for ours, theirs in zip(*found, strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-4)


def test_in_bfloat16_it_differs_by_rounding():
    generator = torch.Generator().manual_seed(1)
    hidden, weight = (torch.randn(rows, 32, generator=generator) for rows in (20, 50))
    target = torch.randint(0, 50, (20,), generator=generator)
    exact = smoothed_cross_entropy(hidden, weight, target, 0.1)
    low = smoothed_cross_entropy(hidden.bfloat16(), weight, target, 0.1, bfloat16=True)
    assert float(low) == pytest.approx(float(exact), rel=0.01)
    assert float(low) != float(exact)
