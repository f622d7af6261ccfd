"""Losses over a teacher's cosines: the fast path is the definition, and a mini-batch is what it should be."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from psp.config.blocks.teacher import TeacherSettings
from psp.pairs.encoded_pairs import Pairs
from psp.text.tokenizer import Encoded
from psp.training.losses import make_loss
from psp.training.losses.base import Loss, MiniBatch, PairComparison
from psp.training.losses.teacher import TeacherLoss, divergence_objective
from tests.training.losses.reference import divergence_loss

INFONCE = {"objective": "infonce", "margin": 0.3, "scale": 20, "mask_equal": True, "loss": {}}


def encoded(count: int) -> Encoded:
    return Encoded(np.arange(count, dtype=np.int32), np.arange(count + 1, dtype=np.int64))


def targets(count: int, among: int = 5, seed: int = 0) -> Any:
    generator = np.random.default_rng(seed)
    vectors = generator.standard_normal((count, 6))
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    order = np.argsort(-(vectors @ vectors.T) - 9 * np.eye(count) * -1, axis=1)
    return SimpleNamespace(vectors=vectors.astype(np.float16), nearest=order[:, :among].astype(np.int32))


def batch(teacher_rows: list[tuple[int, int]], step: int = 0) -> MiniBatch:
    sides = encoded(len(teacher_rows)), encoded(len(teacher_rows))
    pairs = Pairs(*sides, np.ones(len(teacher_rows), bool), np.array(teacher_rows, np.int32))
    return MiniBatch(pairs, np.arange(len(teacher_rows)), None, torch.device("cpu"), step)


@given(count=st.integers(2, 9), scale=st.sampled_from([0.5, 20.0, 90.0]), seed=st.integers(0, 99), zero=st.booleans())
def test_the_loss_and_its_gradient_are_the_definition_s(count: int, scale: float, seed: int, zero: bool) -> None:
    torch.manual_seed(seed)
    vectors = torch.randn(count, 7)
    teacher = torch.nn.functional.normalize(torch.randn(count, 3), dim=1)
    if zero:
        vectors[0] = 0
    found = []
    for function, extra in ((divergence_loss, {}), (divergence_objective, {"reduced": False})):
        own = vectors.clone().requires_grad_()
        loss = function(own, teacher @ teacher.T, scale, **extra)
        (3 * loss).backward()
        found.append((loss.detach(), own.grad))
    torch.testing.assert_close(found[0][0], found[1][0], rtol=1e-4, atol=1e-5)
    rows = slice(1 if zero else 0, None)  # at a length of 0 the gradient is a matter of definition
    torch.testing.assert_close(found[0][1][rows], found[1][1][rows], rtol=1e-3, atol=2e-4)


def test_neighbourhoods_depend_on_the_seed_and_the_step_alone() -> None:
    settings = TeacherSettings(encoder="x", centres=4, neighbours=2, among=5, weight=1)
    given_targets = targets(60)
    loss = TeacherLoss(None, given_targets, encoded(60), settings, seed=1)
    again = TeacherLoss(None, given_targets, encoded(60), settings, seed=1)
    rows = loss.neighbourhoods(3)
    assert np.array_equal(rows, again.neighbourhoods(3)) and not np.array_equal(rows, loss.neighbourhoods(4))
    assert 4 < len(rows) <= 12 and (np.diff(rows) > 0).all()
    # Each is a centre or one of a centre's nearest: so 4 of them have two of their nearest among the rows.
    with_two = [row for row in rows if np.isin(given_targets.nearest[row], rows).sum() >= 2]
    assert len(with_two) >= 4
    compared = loss.compare(batch([(0, 0), (1, 1)], step=3))
    assert np.array_equal(compared.further.ids, rows)
    assert np.array_equal(compared.texts[0], 4 + np.arange(len(rows)))


def test_without_pairs_the_teachers_sentences_of_a_mini_batch_are_compared_each_once() -> None:
    settings = TeacherSettings(encoder="x", loss="kl", weight=1)
    loss = TeacherLoss(None, targets(9), None, settings, seed=1)
    compared = loss.compare(batch([(3, -2), (7, -2), (-1, -2), (3, -2), (0, -2)]))
    assert compared.further is None
    assert [list(part) for part in compared.texts] == [[4, 0, 1]]  # rows 0, 3 and 7
    assert not loss.mines


def test_beside_pairs_each_sentence_is_encoded_once_and_text_is_no_pair() -> None:
    settings = TeacherSettings(encoder="x", loss="kl", weight=0.25, scale=20)
    given_targets, inner = targets(9), make_loss(INFONCE)
    given = batch([(3, 4), (5, -1), (6, -2), (1, 0)])
    compared = TeacherLoss(inner, given_targets, None, settings, seed=1).compare(given)
    assert [list(part) for part in compared.texts] == [[0, 1, 3], [4, 5, 7], [2]]
    vectors = torch.randn(7, 5)
    of_pairs = inner.compare(MiniBatch(given.pairs, np.array([0, 1, 3]), None, given.device))
    order = [5, 2, 0, 3, 1, 6]  # of the rows 0, 1, 3, 4, 5 and 6
    cosines = torch.from_numpy(given_targets.vectors[[0, 1, 3, 4, 5, 6]].astype(np.float32))
    wanted = 0.75 * of_pairs.loss(vectors[:6]) + 0.25 * divergence_loss(vectors[order], cosines @ cosines.T, 20)
    assert float(compared.loss(vectors)) == pytest.approx(float(wanted), rel=1e-2)


@pytest.mark.parametrize("weight", [0.5, 1])
def test_a_mini_batch_with_nothing_to_compare_is_a_step_without_a_gradient(weight: float) -> None:
    inner = make_loss(INFONCE) if weight < 1 else None
    settings = TeacherSettings(encoder="x", loss="kl", weight=weight)
    compared = TeacherLoss(inner, targets(9), None, settings, seed=1).compare(batch([(2, -2), (-1, -2)]))
    vectors = torch.randn(sum(map(len, compared.texts)), 4, requires_grad=True)
    compared.loss(vectors).backward()
    assert vectors.grad is not None and not vectors.grad.any()


def test_the_loss_of_equal_vectors_is_known() -> None:
    class Ten(Loss):
        def compare(self, batch: MiniBatch) -> PairComparison:
            raise NotImplementedError

        def of_equal_vectors(self, pairs: int) -> float:
            return 10.0

    given_targets = targets(30)
    vectors = torch.from_numpy(given_targets.vectors.astype(np.float32))
    equal = float(divergence_loss(torch.ones(30, 4), vectors @ vectors.T, 20))
    for weight, wanted in ((1.0, equal), (0.5, 5 + equal / 2)):
        settings = TeacherSettings(encoder="x", loss="kl", weight=weight, scale=20)
        loss = TeacherLoss(Ten(INFONCE) if weight < 1 else None, given_targets, None, settings, seed=1)
        assert loss.of_equal_vectors(30) == pytest.approx(wanted, rel=1e-2)
