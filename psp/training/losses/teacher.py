"""Losses that teach a model a teacher's cosines, in addition to the objective of its pairs or instead of it.

The student's vectors need neither the teacher's length nor its space: it learns how near sentences are to one another.
Each sentence of a group is compared with all others, but not with itself, whose cosine of 1 is uninformative and would
dominate a softmax.

A group is a mini-batch's sentences (``kl``), or neighbourhoods (``neighbours-kl``): random sentences, each with some of
its nearest by the teacher. Random sentences have little in common, so their cosines teach only coarse differences;
those of neighbours teach fine ones.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.config.blocks.teacher import TeacherSettings
from psp.text.tokenizer import Encoded
from psp.training.losses.base import Loss, MiniBatch, PairComparison
from psp.training.losses.infonce import _by_vectors, _products, _reduced, _unit_rows
from psp.training.teaching.targets import TEXT, DistillationTargets

#: Sentences by which :meth:`TeacherLoss.of_equal_vectors` knows the teacher's cosines.
_KNOWN = 512


class TeacherLoss(Loss):
    """A share of the loss is the teacher's, the rest that of the pairs.

    Args:
        pairs: the objective's loss; None = only the teacher's counts (``weight: 1``).
        targets: the teacher's vectors, and the neighbours of its sentences.
        sentences: the ids of the teacher's sentences; needed only for neighbourhoods.
        settings: the block ``teacher``.
        seed: which neighbourhoods are drawn depends only on it and the step.
    """

    def __init__(
        self,
        pairs: Loss | None,
        targets: DistillationTargets,
        sentences: Encoded | None,
        settings: TeacherSettings,
        seed: int,
    ) -> None:
        torch.nn.Module.__init__(self)
        self.pairs, self._settings, self._seed = pairs, settings, seed
        self.learning_rate = 0.0 if pairs is None else pairs.learning_rate  # without pairs there are no parameters
        self.mines = pairs is not None and pairs.mines
        self.of_targets = pairs is not None and pairs.of_targets
        self._vectors, self._nearest, self._sentences = targets.vectors, targets.nearest, sentences

    def compare(self, batch: MiniBatch) -> PairComparison:
        rows = batch.rows
        if self._settings.in_neighbourhoods:
            teacher_rows, further = self.neighbourhoods(batch.step), self._sentences
            assert further is not None
            further = further.take(teacher_rows)
            numbers = 2 * len(batch.pairs) + np.arange(len(teacher_rows))
        else:
            (teacher_rows, numbers), further = self._of_batch(batch), None
        own = self._of_pairs(batch)
        if own is None and len(teacher_rows) < 2:  # nothing to compare; still a step
            return PairComparison([rows[:1]], lambda vectors: 0 * vectors.sum())
        weight = self._settings.weight if own is not None else 1.0
        if own is not None and len(teacher_rows) < 2:
            return own._replace(loss=lambda vectors: (1 - weight) * own.loss(vectors))
        cosines = self._cosines(teacher_rows).to(batch.device)
        if own is None:
            return PairComparison([numbers], lambda vectors: self._divergence(vectors, cosines), further=further)
        # Sentences that the pairs' loss compares already are encoded once.
        there = np.concatenate(own.texts)
        known, first = np.unique(there, return_index=True)
        place = np.searchsorted(known, numbers).clip(max=len(known) - 1)
        old = known[place] == numbers
        places = np.empty(len(numbers), np.int64)
        places[old] = first[place[old]]
        places[~old] = len(there) + np.arange(np.count_nonzero(~old))
        chosen, count = torch.from_numpy(places).to(batch.device), len(there)

        def loss(vectors: Tensor) -> Tensor:
            return (1 - weight) * own.loss(vectors[:count]) + weight * self._divergence(vectors[chosen], cosines)

        return PairComparison([*own.texts, numbers[~old]], loss, own.without_negative, further)

    def of_equal_vectors(self, pairs: int) -> float:
        teacher_rows = self.neighbourhoods(0) if self._settings.in_neighbourhoods else np.arange(len(self._vectors))
        cosines = self._cosines(teacher_rows[:_KNOWN])
        value = float(self._divergence(torch.ones(len(cosines), 2), cosines))
        if self.pairs is None:
            return value
        weight = self._settings.weight
        return (1 - weight) * self.pairs.of_equal_vectors(pairs) + weight * value

    def neighbourhoods(self, step: int) -> npt.NDArray[np.int64]:
        """The rows of a step's neighbourhoods, distinct and ascending, int64, at most centres * (1 + neighbours)."""
        assert self._nearest is not None
        settings, (count, among) = self._settings, self._nearest.shape
        # Another stream than the epochs' [seed, epoch] and mining's [seed, 0, step].
        generator = np.random.default_rng([self._seed, 0, step, 1])
        centres = generator.choice(count, min(settings.centres, count), replace=False, shuffle=False)
        kept = min(settings.neighbours, among)
        order = np.argsort(generator.random((len(centres), among)), axis=1)[:, :kept]
        near = np.take_along_axis(np.asarray(self._nearest[centres]), order, axis=1)
        return np.unique(np.concatenate([centres, near.ravel()])).astype(np.int64)

    def _of_batch(self, batch: MiniBatch) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """The teacher's rows of a mini-batch's sentences, each once, and the sentences' numbers in the mega-batch."""
        assert batch.pairs.teacher_rows is not None
        rows = batch.pairs.teacher_rows[batch.rows].T.ravel().astype(np.int64)
        numbers = np.concatenate([batch.rows, batch.rows + len(batch.pairs)])[rows >= 0]
        teacher_rows, first = np.unique(rows[rows >= 0], return_index=True)
        return teacher_rows, numbers[first]

    def _of_pairs(self, batch: MiniBatch) -> PairComparison | None:
        """What the pairs' loss compares: not sentences of plain text, each of which is paired with itself."""
        if self.pairs is None:
            return None
        assert batch.pairs.teacher_rows is not None
        rows = batch.rows[batch.pairs.teacher_rows[batch.rows, 1] != TEXT]
        return self.pairs.compare(dataclasses.replace(batch, rows=rows)) if len(rows) > 1 else None

    def _cosines(self, teacher_rows: npt.NDArray[np.int64]) -> Tensor:
        vectors = torch.from_numpy(np.asarray(self._vectors[teacher_rows], dtype=np.float32))
        return vectors @ vectors.T

    def _divergence(self, vectors: Tensor, cosines: Tensor) -> Tensor:
        return divergence_objective(vectors, cosines, self._settings.scale)


def divergence_objective(vectors: Tensor, cosines: Tensor, scale: float, reduced: bool | None = None) -> Tensor:
    """The loss of ``kl`` and ``neighbours-kl`` by two matrix products, its gradient included.

    It is the mean over sentences of the Kullback-Leibler divergence of the student's softmax over the other sentences
    from the teacher's. The matrix is symmetric, so columns would give the same as rows. Torch's own operations
    compute it in tests/training/losses/reference.py.

    Args:
        vectors: the student's, shape (n, dim).
        cosines: the teacher's, shape (n, n).
        scale: of the cosines, before the softmax.
        reduced: as of :func:`psp.training.losses.infonce.infonce`.
    """
    return _Divergence.apply(vectors, cosines, scale, _reduced(vectors, reduced))


class _Divergence(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, vectors: Tensor, cosines: Tensor, scale: float, reduced: bool) -> Tensor:
        units, lengths = _unit_rows(vectors.detach().contiguous())
        count = len(units)
        with _products(reduced):
            student, teacher = (scale * matrix for matrix in (units @ units.T, cosines))
            for logits in (student, teacher):
                logits.fill_diagonal_(-torch.inf)
                logits -= logits.logsumexp(1)[:, None]
            shares = teacher.exp()
            slope = student.exp().sub_(shares).mul_(scale / count)
            student.fill_diagonal_(0)
            teacher.fill_diagonal_(0)
            loss = teacher.sub_(student).mul_(shares).sum() / count
            # Each cosine is of two vectors, and each vector is in a row and in a column.
            ctx.gradient = _by_vectors((slope + slope.T) @ units, units, lengths)
        return loss

    @staticmethod
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor | None, ...]:
        gradient: Tensor = ctx.gradient
        return gradient * upstream, None, None, None
