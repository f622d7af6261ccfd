"""The compiled softmaxes against torch's cross entropy and its gradient."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional

from psp.core import jit
from psp.training.losses.infonce import LARGEST, infonce_objective, softmaxes


def reference(cosines, masked, margin, scale):
    """Both directions' losses and the slope of their mean, in float64."""
    matrix = torch.tensor(cosines, dtype=torch.float64, requires_grad=True)
    own = torch.eye(len(cosines), dtype=torch.bool)
    logits = scale * (matrix - margin * own.double())
    if masked is not None:
        logits = logits.masked_fill(torch.from_numpy(masked) & ~own, -torch.inf)
    labels = torch.arange(len(cosines))
    losses = [functional.cross_entropy(side, labels, reduction="none") for side in (logits, logits.T)]
    ((losses[0].mean() + losses[1].mean()) / 2).backward()
    return losses[0].detach().numpy(), losses[1].detach().numpy(), matrix.grad.numpy()


def drawn(pairs, seed):
    return np.random.default_rng(seed).uniform(-1, 1, (pairs, pairs)).astype(np.float32)


@given(
    pairs=st.integers(1, 150),
    margin=st.sampled_from([0.0, 0.3, 1.0]),
    scale=st.sampled_from([0.5, 20.0, 26.0]),
    share=st.sampled_from([None, 0.0, 0.2, 1.0]),
    seed=st.integers(0, 999),
)
def test_losses_and_slope_are_those_of_torch(pairs, margin, scale, share, seed):
    assert scale * (2 + margin) <= LARGEST
    cosines = drawn(pairs, seed)
    masked = None if share is None else np.random.default_rng(seed).random((pairs, pairs)) < share
    expected = reference(cosines, masked, margin, scale)
    slope = cosines.copy()
    by_source, by_target = softmaxes(slope, masked, margin, scale)
    np.testing.assert_allclose(by_source, expected[0], rtol=1e-5, atol=2e-5)
    np.testing.assert_allclose(by_target, expected[1], rtol=1e-5, atol=2e-5)
    np.testing.assert_allclose(slope, expected[2], rtol=1e-4, atol=1e-6 * scale / pairs)


def test_cosines_at_their_limits():
    cosines = np.array([[1.0, -1.0], [-1.0, 1.0]], np.float32)
    expected = reference(cosines, None, 0.0, 40.0)
    slope = cosines.copy()
    by_source, _ = softmaxes(slope, None, 0.0, LARGEST / 2)
    np.testing.assert_allclose(by_source, expected[0], atol=1e-5)
    np.testing.assert_allclose(slope, expected[2], atol=1e-6)


def test_threads_do_not_change_a_bit():
    found = []
    for threads in (1, 2):
        before = jit.set_threads(threads)
        slope = drawn(300, 5)
        found.append([array.tobytes() for array in (*softmaxes(slope, slope > 0.9, 0.3, 20.0), slope)])
        jit.set_threads(before)
    assert found[0] == found[1]


@pytest.mark.parametrize("masked", [False, True])
def test_products_of_bfloat16_are_near_those_of_float32(masked):
    vectors = torch.randn(1024, 256, generator=torch.Generator().manual_seed(1), requires_grad=True)
    mask = torch.rand(512, 512, generator=torch.Generator().manual_seed(2)) < 0.01 if masked else None
    gradients, before = [], torch.get_float32_matmul_precision()
    for reduced in (False, True):
        loss = infonce_objective(vectors, 0.3, 20.0, mask, reduced=reduced)
        gradients.append(torch.autograd.grad(loss, vectors)[0])
    exact, rounded = gradients
    assert not torch.equal(exact, rounded)
    assert (exact - rounded).norm() < 0.03 * exact.norm()
    assert torch.get_float32_matmul_precision() == before
