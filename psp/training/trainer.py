"""The steps of training, from pairs to a table; no files here."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.errors import PspError
from psp.progress import Progress
from psp.training.batches import Epoch, Pairs, Sentences, Source
from psp.training.encoder import dropped_mean_vectors, mean_vectors
from psp.training.loss import margin_loss
from psp.training.mining import Negatives, mine_by_kind
from psp.training.optimiser import DenseAdam, RowOptimiser, clip_gradient
from psp.training.records import Records
from psp.training.schedule import megabatch_size
from psp.training.settings import TrainSettings

log = logging.getLogger(__name__)

ADVICE = "lower learning_rate, set clip, or start from another table"
#: Scores a table (None: it is as good as any other); the mapping has the key ``score``, larger is better.
Evaluate = Callable[[Tensor], Mapping[str, Any]]


class Trainer:
    """Train a table in place.

    Args:
        source: the pairs.
        table: shape (pieces, dim), float32, on the device to train on.
        settings: everything that can be set.
        evaluate: scores the table on development data; None = there is none, and the last table is kept.
        records: where metrics go.

    Attributes:
        step: mini-batches so far.
        pairs: pairs seen so far.
        alone: pairs passed over because they were a mega-batch of their own: there was nothing to mine.
        lonely: pairs (by direction) for which every candidate of their mega-batch was excluded: no loss term.
        best: the evaluation whose table was kept, or None.
    """

    def __init__(
        self, source: Source, table: Tensor, settings: TrainSettings, evaluate: Evaluate | None, records: Records
    ) -> None:
        self.source, self.table, self.settings, self.records = source, table, settings, records
        self.step = self.pairs = self.alone = self.lonely = 0
        self.best: dict[str, Any] | None = None
        self._evaluate = evaluate
        self._optimiser: RowOptimiser = DenseAdam(table, settings.learning_rate)
        self._noise = torch.Generator(table.device).manual_seed(settings.seed)
        self._best_table: Tensor | None = None
        self._next_evaluation = settings.dev_every
        self._epoch = 0
        self._bar: Progress | None = None

    def run(self) -> Tensor:
        """Train for all epochs; the table that is to be kept.

        Raises:
            PspError: training diverged (the step is named), or no step could be made.
        """
        total = self.settings.epochs * len(self.source)
        with Progress("training", "pairs", total) as self._bar:
            for number in range(1, self.settings.epochs + 1):
                self._epoch = number
                epoch = Epoch(self.source, self.settings.seed, number)
                while epoch.left:
                    self._megabatch(epoch)
                if self.settings.dev_every is None:
                    self._development()
            if not self.step:
                raise PspError("nothing was trained: the store has no two pairs to tell apart")
            self._development()
        self.records.flush()
        self._optimiser.prepare(None)
        kept = self.table if self._best_table is None else self._best_table
        if not _measurable(kept):
            raise PspError(f"training diverged by step {self.step}: a row's length is not finite; {ADVICE}")
        return kept

    def _megabatch(self, epoch: Epoch) -> None:
        size = megabatch_size(self.step, self.settings.anneal, self.settings.megabatch)
        pairs = epoch.take(size * self.settings.batch_size)
        if len(pairs) == 1:  # it could only be its own negative
            log.debug("epoch %d: its last mega-batch is a single pair, passed over", self._epoch)
            self.alone += 1
            return
        started = time.monotonic()
        sentences = Sentences.join([pairs.source, pairs.target])
        negatives = self._mine(pairs, sentences)
        self.records.mined(time.monotonic() - started)
        for start in range(0, len(pairs), self.settings.batch_size):
            rows = np.arange(start, min(start + self.settings.batch_size, len(pairs)))
            loss = self._minibatch(sentences, rows, negatives)
            self.step += 1
            self.pairs += len(rows)
            self.records.step(
                step=self.step,
                epoch=self._epoch,
                pairs=self.pairs,
                megabatch=size,
                learning_rate=self.settings.learning_rate,
                loss=loss,
            )
            assert self._bar is not None
            self._bar.add(len(rows), loss=f"{loss:.4f}", megabatch=size)
            if self._next_evaluation is not None and self.pairs >= self._next_evaluation:
                self._development()

    def _mine(self, pairs: Pairs, sentences: Sentences) -> Negatives:
        """The negatives of a mega-batch, with dropout off and the parameters of this moment."""
        ids, offsets = self._tensors(sentences)
        self._optimiser.prepare(torch.unique(ids))
        with torch.no_grad():
            vectors = mean_vectors(self.table, ids, offsets)
            # Unseen otherwise: NaN loses every comparison, and the cosine of a vector too long to measure is 0.
            if not _measurable(vectors):
                raise PspError(f"training diverged by step {self.step}: a vector's length is not finite; {ADVICE}")
            source, target = vectors.chunk(2)
            settings = self.settings
            return mine_by_kind(pairs, source, target, negatives=settings.negatives, mask_equal=settings.mask_equal)

    def _minibatch(self, sentences: Sentences, rows: npt.NDArray[np.int64], negatives: Negatives) -> float:
        """One step of the optimiser; the loss before it."""
        sides = [negatives.source[rows]] + ([negatives.target[rows]] if self.settings.directions == "both" else [])
        texts = np.concatenate([rows, rows + len(sentences) // 2, *(side.clip(min=0) for side in sides)])
        ids, offsets = self._tensors(sentences.take(texts))
        used, local = torch.unique(ids, return_inverse=True)
        self._optimiser.prepare(used)
        values = self.table[used].requires_grad_()  # only the rows in use: their gradient is small
        if self.settings.dropout:
            vectors = dropped_mean_vectors(values, local, offsets, self.settings.dropout, self._noise)
        else:
            vectors = mean_vectors(values, local, offsets)
        source, target, *hardest = vectors.split(len(rows))
        valid = [torch.from_numpy(side >= 0).to(self.table.device) for side in sides]
        loss = margin_loss(source, target, hardest[0], self.settings.margin, valid[0])
        if len(hardest) == 2:
            loss = loss + margin_loss(target, source, hardest[1], self.settings.margin, valid[1])
        value = float(loss.detach())
        if not math.isfinite(value):
            raise PspError(f"training diverged at step {self.step + 1}: the loss is {value}; {ADVICE}")
        self.lonely += sum(int((side < 0).sum()) for side in sides)
        loss.backward()
        assert values.grad is not None
        if self.settings.clip is not None:
            clip_gradient(values.grad, self.settings.clip)
        self._optimiser.step(used, values.grad)
        return value

    def _tensors(self, sentences: Sentences) -> tuple[Tensor, Tensor]:
        device = self.table.device
        return torch.from_numpy(sentences.ids).to(device, torch.int64), torch.from_numpy(sentences.offsets).to(device)

    def _development(self) -> None:
        """Evaluate on development data, unless this very table has been, and keep the table where it is the best."""
        if self.settings.dev_every is not None:
            self._next_evaluation = self.pairs + self.settings.dev_every
        history = self.records.history
        if self._evaluate is None or not self.step or (history and history[-1]["step"] == self.step):
            return
        started = time.monotonic()
        self._optimiser.prepare(None)
        scores = dict(self._evaluate(self.table))
        score = float(scores["score"])
        if not math.isfinite(score):
            raise PspError(f"the development score at step {self.step} is {score}; check the development data")
        if self.settings.select == "last" or self.best is None or score > self.best["score"]:
            self.best = {"step": self.step, "epoch": self._epoch, "pairs": self.pairs, **scores}
            if self.settings.select == "best":
                if self._best_table is None:
                    self._best_table = torch.empty_like(self.table)
                self._best_table.copy_(self.table)
        self.records.evaluation(self.step, self._epoch, self.pairs, scores, time.monotonic() - started)
        assert self._bar is not None
        self._bar.add(0, dev=f"{score:.2f}")
        log.info("step %d, %d pairs: development score %.4f", self.step, self.pairs, score)


def _measurable(vectors: Tensor) -> bool:
    """Whether every row has a finite length in float32 (rows of 1e20 are finite, their squares are not)."""
    return bool(torch.linalg.vector_norm(vectors, dim=1).isfinite().all())


@contextlib.contextmanager
def torch_state(threads: int) -> Iterator[None]:
    """Torch as training wants it (threads, repeatable kernels), and as it was found afterwards.

    Memory is not filled for the sake of repeatability: nothing here is read before it is written.
    """
    before = torch.get_num_threads()
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    try:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True, warn_only=True)  # a GPU may lack a repeatable kernel: go on, say so
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        yield
    finally:
        torch.set_num_threads(before)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        torch.utils.deterministic.fill_uninitialized_memory = fill  # type: ignore[attr-defined]
