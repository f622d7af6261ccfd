"""The training steps, from pairs to an encoder; the only files it handles are checkpoints, through their class."""

from __future__ import annotations

import contextlib
import logging
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.config.blocks.training import TrainSettings
from psp.core.errors import PspError
from psp.core.logs import Progress
from psp.pairs.encoded_pairs import Pairs, PairSource
from psp.text.tokenizer import Encoded
from psp.training.batches import Epoch
from psp.training.encoders.base import Encoder
from psp.training.losses import make_loss
from psp.training.losses.base import Loss, MiniBatch
from psp.training.negatives.mining import Negatives, mine_by_kind
from psp.training.optimiser import DenseAdam, JointOptimiser, RowOptimiser, clip_gradient
from psp.training.sampling import LanguageSampling
from psp.training.saving.checkpoint import Checkpoint, Checkpoints, Stopped, StopRequest
from psp.training.saving.csv_log import MetricsLog
from psp.training.saving.weights import WeightSnapshot

log = logging.getLogger(__name__)

#: Steps after which all rows are brought up to date, at the start of the next mega-batch. Checkpoints are written only
#: then: catching up in two parts rounds differently than in one, so the clock must not decide when it happens.
CATCH_UP_EVERY = 100
ADVICE = "lower learning_rate, set clip, or start from other weights"
#: Multiples of the untrained weights' loss: above the first, training has diverged; above the second, it has learnt
#: next to nothing. One epoch of 50,000 pairs ended at 0.01 to 0.4 of it with learning rates of 0.05 to 5, for every
#: objective, at 0.7 to 0.95 with 0.001, at 0.995 and more with 1e-5, and at 0.9 to 1.14 from 1e4 on.
DIVERGED, HARDLY = 1.01, 0.97
#: With so few steps, on a handful of pairs, even sound settings may end above the untrained loss.
FEW_STEPS = 10
#: Scores an encoder; the mapping has the key ``score``, larger is better.
Evaluate = Callable[[Encoder], Mapping[str, Any]]


class Trainer:
    """Train an encoder in place.

    Args:
        source: the pairs.
        encoder: ids in, one vector per sentence out.
        optimiser: for the encoder's parameters, with their peak learning rates. The objective's own parameters, if any,
            are optimised by torch's Adam alongside it.
        settings: all training settings.
        evaluate: gives the validation score; None = there is no development data, and the last weights are kept.
        metrics: the log that metrics are written to.
        checkpoints: where to write and resume from checkpoints; None = no checkpoints.
        folder: the disk on which to keep the best weights so far; None = that of temporary files.
        objective: the loss; None = that of the settings.
        sampling: how often an epoch has the pairs of each language; None = each pair once.

    Attributes:
        step: mini-batches so far.
        pairs: pairs seen so far.
        passed_over: pairs that were alone in a mega-batch: they could only be their own negatives.
        without_negative: anchors (a pair has two) for which every candidate was masked: they have no loss.
        best: the evaluation whose weights were kept, or None.
        first_loss: the loss of the first mini-batch, before its step; None until then.
    """

    def __init__(
        self,
        source: PairSource,
        encoder: Encoder,
        optimiser: RowOptimiser,
        settings: TrainSettings,
        evaluate: Evaluate | None,
        metrics: MetricsLog,
        checkpoints: Checkpoints | None = None,
        folder: Path | None = None,
        objective: Loss | None = None,
        sampling: LanguageSampling | None = None,
    ) -> None:
        self.source, self.encoder, self.settings, self.metrics = source, encoder, settings, metrics
        self.step = self.pairs = self.passed_over = self.without_negative = 0
        self.best: dict[str, Any] | None = None
        self.first_loss: float | None = None
        self._first_pairs: Pairs | None = None  # of the first mega-batch, which begins with the first mini-batch
        self._device = optimiser.param_groups[0]["params"][0].device
        self._objective = (make_loss(settings.as_dict()) if objective is None else objective).to(self._device)
        if own := list(self._objective.parameters()):
            optimiser = JointOptimiser([optimiser, DenseAdam(own, lr=self._objective.learning_rate)])
        self._optimiser, self._evaluate = optimiser, evaluate
        self._checkpoints = checkpoints
        self._parameters = [table for part in optimiser.param_groups for table in part["params"]]
        self._highest_rates = [part["lr"] for part in optimiser.param_groups]
        self._best_weights = WeightSnapshot(folder)
        self._sampling = sampling
        self._total = settings.epochs * len(source if sampling is None else sampling)
        self._rested = 0  # the last step at which a checkpoint could be written
        self._epoch = 1
        self._taken = 0  # pairs of the epoch so far
        self._bar: Progress | None = None

    def run(self) -> dict[str, Tensor]:
        """Train for all epochs; return the weights to keep, by their names in the encoder.

        Raises:
            PspError: training diverged (the step is named), or no step could be taken.
            Stopped: by Ctrl-C or SIGTERM, after a checkpoint.
        """
        epochs = [self._pairs_of(number) for number in range(self._epoch, self.settings.epochs + 1)]
        with contextlib.ExitStack() as stack:
            stop = stack.enter_context(StopRequest().listening())
            for epoch, then in zip(epochs, [*epochs[1:], None], strict=True):
                epoch.then = then
                stack.enter_context(epoch)
            self._bar = stack.enter_context(Progress("training", "pairs", self._total, done=self.pairs))
            for epoch in epochs:
                epoch.skip(self._taken)
                while epoch.left:
                    self._rest(stop)
                    self._megabatch(epoch)
                self._development()
                self._epoch += 1
                self._taken = 0
            self._epoch -= 1
            if not self.step:
                raise PspError("nothing was trained: the store has no two pairs to tell apart")
            self._development()
        self.metrics.flush()
        self._catch_up()
        if not measurable(*self._parameters):
            raise PspError(f"training diverged by step {self.step}: a row's length is not finite; {ADVICE}")
        return self._best_weights.tensors() if self._best_weights else self.encoder.state_dict()

    def _pairs_of(self, epoch: int) -> Epoch:
        return Epoch(self.source, self.settings.seed, epoch, sampling=self._sampling)

    def check_learnt(self, refuse: bool = True) -> None:
        """After :meth:`run`, compare the loss of the final weights with the untrained ones'.

        Both are computed on the first mini-batch, with the same noise. (The last mini-batches' losses would tell
        nothing: mined negatives are harder for a better encoder, and come from ever larger mega-batches.) As training
        may start from trained weights, the untrained loss is taken to be at least that of vectors that are all equal. A
        loss that hardly fell gives a warning, and so does divergence after the step whose weights are kept.

        Args:
            refuse: divergence is an error; otherwise, and always after only a few steps, it is a warning.

        Raises:
            PspError: training diverged.
        """
        assert self.first_loss is not None
        after = self._first_loss_now()
        untrained = max(self.first_loss, self._objective.of_equal_vectors(len(self._first_rows())))
        if after <= HARDLY * untrained:
            return
        what = f"the first mini-batch's loss is {after:.4g} after training and was {self.first_loss:.4g} before"
        if after <= DIVERGED * untrained:
            how = "almost nothing was learnt; try a learning_rate other than"
            log.warning("%s: %s %g, or more epochs", what, how, self.settings.learning_rate)
            return
        message = f"training diverged: {what}; {ADVICE}"
        kept = self.best["step"] if self.settings.select == "best" and self.best is not None else self.step
        if kept < self.step:
            log.warning("%s. The weights of step %d, the best, are kept", message, kept)
        elif refuse and self.step >= FEW_STEPS:
            raise PspError(message)
        else:
            log.warning("%s", message)

    def _first_rows(self) -> npt.NDArray[np.int64]:
        """The numbers of the first mini-batch's pairs in the first mega-batch, int64 (pairs,)."""
        assert self._first_pairs is not None
        return np.arange(min(self.settings.batch_size, len(self._first_pairs)))

    def _first_loss_now(self) -> float:
        """The loss of the current weights on the first mini-batch, with the noise of the first step."""
        assert self._first_pairs is not None
        pairs, step, without_negative = self._first_pairs, self.step, self.without_negative
        sentences = Encoded.join([pairs.source, pairs.target])
        self.step = 0
        try:
            with torch.no_grad():
                negatives = self._mine(pairs, sentences) if self._objective.mines else None
                return self._loss(pairs, sentences, self._first_rows(), negatives)[1]
        finally:
            self.step, self.without_negative = step, without_negative

    def _rest(self, stop: StopRequest) -> None:
        """Between mega-batches: bring all rows up to date at intervals, and write a checkpoint if one is due."""
        stop.check()
        if self.step - self._rested < CATCH_UP_EVERY:
            return
        self._rested = self.step
        self._catch_up()
        if self._checkpoints is not None and (stop.signal is not None or self._checkpoints.due(self.step)):
            self._save()
        if stop.signal is not None:
            how = "start the same training again to go on from there" if self._checkpoints else "nothing was kept"
            raise Stopped(f"training was stopped at step {self.step} ({self.pairs:,} pairs); {how}", stop.signal)

    def _catch_up(self) -> None:
        for table in self._parameters:
            self._optimiser.prepare(table, None)

    def _megabatch_size(self) -> int:
        """Mini-batches in the mega-batch that begins after the steps so far."""
        settings = self.settings
        return megabatch_size(self.step, settings.anneal, settings.megabatch) if self._objective.mines else 1

    def _megabatch(self, epoch: Epoch) -> None:
        size = self._megabatch_size()
        pairs = epoch.take(size * self.settings.batch_size)
        self._taken += len(pairs)
        if len(pairs) == 1:  # it could only be its own negative
            log.debug("epoch %d: its last batch is a single pair, passed over", self._epoch)
            self.passed_over += 1
            return
        started = time.monotonic()
        sentences = Encoded.join([pairs.source, pairs.target])
        negatives = self._mine(pairs, sentences) if self._objective.mines else None
        self.metrics.mined(time.monotonic() - started)
        for start in range(0, len(pairs), self.settings.batch_size):
            rows = np.arange(start, min(start + self.settings.batch_size, len(pairs)))
            rate = self._set_learning_rate(len(rows))
            loss = self._minibatch(pairs, sentences, rows, negatives)
            if self.first_loss is None:
                self.first_loss, self._first_pairs = loss, pairs
            self.step += 1
            self.pairs += len(rows)
            self.metrics.step(
                step=self.step,
                epoch=self._epoch,
                pairs=self.pairs,
                megabatch=size,
                learning_rate=rate,
                loss=loss,
            )
            assert self._bar is not None
            self._bar.add(len(rows), loss=loss, megabatch=size)

    def _mine(self, pairs: Pairs, sentences: Encoded) -> Negatives:
        """Mine the negatives of a mega-batch with the current parameters and dropout off."""
        settings = self.settings
        with self._precision():
            vectors = self.encoder.encode(sentences).float()
        # Unnoticed otherwise: NaN loses every comparison, and the cosine of a vector whose norm overflows is 0.
        if not measurable(vectors):
            raise PspError(f"training diverged by step {self.step}: a vector's length is not finite; {ADVICE}")
        source, target = vectors.chunk(2)
        return mine_by_kind(
            pairs,
            source,
            target,
            negatives=settings.negatives,
            mask_equal=settings.mask_equal,
            of_targets=self._objective.of_targets,
            generator=np.random.default_rng([settings.seed, 0, self.step]),  # distinct from the epochs' [seed, epoch]
            reduced=True if settings.precision == "mixed" else None,
        )

    def _precision(self) -> contextlib.AbstractContextManager[Any]:
        """With ``precision: mixed``, matrix products use bfloat16; weights and their gradients stay float32."""
        return torch.autocast(self._device.type, torch.bfloat16, enabled=self.settings.precision == "mixed")

    def _set_learning_rate(self, pairs: int) -> float:
        """Set the learning rates for a step on this many pairs; return that of the encoder's first parameters."""
        settings = self.settings
        done = (self.pairs + self.passed_over + pairs / 2) / self._total
        rates = [learning_rate(rate, settings.schedule, settings.warmup, done) for rate in self._highest_rates]
        for part, rate in zip(self._optimiser.param_groups, rates, strict=True):
            part["lr"] = rate
        return rates[0]

    def _loss(
        self, pairs: Pairs, sentences: Encoded, rows: npt.NDArray[np.int64], negatives: Negatives | None
    ) -> tuple[Tensor, float]:
        """The loss of a mini-batch, and its value.

        With ``matryoshka`` it is the mean over the vectors and over their beginnings of these lengths.
        """
        compared = self._objective.compare(MiniBatch(pairs, rows, negatives, self._device, self.step))
        texts = np.concatenate(compared.texts)
        known = sentences if compared.further is None else Encoded.join([sentences, compared.further])
        with self._precision():
            vectors = self.encoder(known.take(texts), self.step)
            loss = compared.loss(vectors)
            if lengths := self.settings.matryoshka:
                shorter = [compared.loss(vectors[:, :length].contiguous()) for length in lengths]
                loss = torch.stack([loss, *shorter]).mean()
        self.without_negative += compared.without_negative
        value = float(loss.detach())
        if not math.isfinite(value):
            raise PspError(f"training diverged at step {self.step + 1}: the loss is {value}; {ADVICE}")
        return loss, value

    def _minibatch(
        self, pairs: Pairs, sentences: Encoded, rows: npt.NDArray[np.int64], negatives: Negatives | None
    ) -> float:
        """Take one step of the optimiser; return the loss before it."""
        loss, value = self._loss(pairs, sentences, rows, negatives)
        self._optimiser.zero_grad()
        loss.backward()
        if self.settings.clip is not None:
            clip_gradient([table.grad for table in self._parameters if table.grad is not None], self.settings.clip)
        self._optimiser.step()
        return value

    def _development(self) -> None:
        """Evaluate on development data, unless these weights were evaluated already."""
        history = self.metrics.history
        if self._evaluate is None or not self.step or (history and history[-1]["step"] == self.step):
            return
        self._score()

    def _score(self) -> None:
        """Evaluate the weights on development data, and keep them if they are the best so far."""
        started = time.monotonic()
        self._catch_up()
        assert self._evaluate is not None
        scores = dict(self._evaluate(self.encoder))
        score = float(scores["score"])
        if not math.isfinite(score):
            raise PspError(f"the validation score at step {self.step} is {score}; check the development data")
        if self.settings.select == "last" or self.best is None or score > self.best["score"]:
            self.best = {"step": self.step, "epoch": self._epoch, "pairs": self.pairs, **scores}
            if self.settings.select == "best":
                self._best_weights.put(self.encoder.state_dict())
        self.metrics.evaluation(self.step, self._epoch, self.pairs, scores, time.monotonic() - started)
        assert self._bar is not None
        self._bar.add(0, dev=f"{score:.2f}")
        log.info("step %d, %d pairs: validation score %.4f", self.step, self.pairs, score)

    def _save(self) -> None:
        """Write a checkpoint; all rows must be up to date."""
        assert self._checkpoints is not None
        moments: dict[str, Tensor] = {}
        numbers: dict[str, dict[str, Any]] = {}
        for index, state in self._optimiser.state_dict()["state"].items():
            for key, value in state.items():
                if isinstance(value, Tensor):
                    moments[f"{index}.{key}"] = value
                else:
                    numbers.setdefault(str(index), {})[key] = value
        parts = {
            "encoder": self.encoder.state_dict(),
            "objective": self._objective.state_dict(),
            "optimiser": moments,
            "best": self._best_weights.tensors(),
        }
        tensors = {f"{part}.{name}": tensor for part, held in parts.items() for name, tensor in held.items()}
        state = {
            "pairs": self.pairs,
            "alone": self.passed_over,
            "lonely": self.without_negative,
            "first_loss": self.first_loss,
            "epoch": self._epoch,
            "taken": self._taken,
            "optimiser": numbers,
            "best": self.best,
            "records": self.metrics.state(),
        }
        self._checkpoints.save(self.step, tensors, state, self.metrics.files(), same="best")

    def resume(self, checkpoint: Checkpoint) -> None:
        """Restore everything in a checkpoint but the metrics, which were restored when their log was opened.

        Raises:
            DataError: the checkpoint is damaged.
        """
        state = checkpoint.state
        with self._pairs_of(1) as epoch:  # no step has been taken yet
            self._first_pairs = epoch.take(self._megabatch_size() * self.settings.batch_size)
        self.step = self._rested = state["step"]
        self.pairs, self.passed_over, self.without_negative = state["pairs"], state["alone"], state["lonely"]
        self._epoch, self._taken = state["epoch"], state["taken"]
        self.best, self.first_loss = state["best"], state["first_loss"]
        # Tensors are copied into the existing ones, or cloned: one by one, and none stays backed by a file.
        with torch.no_grad():
            for prefix, module in (("encoder", self.encoder), ("objective", self._objective)):
                for name, weight in module.state_dict().items():
                    weight.copy_(checkpoint.tensor(f"{prefix}.{name}"))
        optimiser = self._optimiser.state_dict()
        for index, numbers in state["optimiser"].items():
            optimiser["state"].setdefault(int(index), {}).update(numbers)
        for name in checkpoint.names("optimiser."):
            _, index, key = name.split(".", 2)
            of = optimiser["state"].setdefault(int(index), {})
            if isinstance(of.get(key), Tensor):
                of[key].copy_(checkpoint.tensor(name))
            else:
                of[key] = checkpoint.tensor(name).clone()
        self._optimiser.load_state_dict(optimiser)
        if names := checkpoint.names("best."):
            self._best_weights.put({name.removeprefix("best."): checkpoint.tensor(name) for name in names})
        log.info("going on from step %d (%d pairs), %s", self.step, self.pairs, checkpoint.folder)


def measurable(*tensors: Tensor) -> bool:
    """Whether every row has a finite norm in float32 (rows of 1e20 are finite, their squares are not)."""
    return all(bool(torch.linalg.vector_norm(tensor.detach(), dim=-1).isfinite().all()) for tensor in tensors)


def megabatch_size(step: int, anneal: int, maximum: int) -> int:
    """Mini-batches in the mega-batch that starts after ``step`` mini-batches.

    The paper (section 5.1) starts with one and adds one every 150 mini-batches up to M, so that negatives get harder
    as the model gets better. ``anneal`` is that 150; with 0 every mega-batch has M, as in ParaNMT-50M (Wieting & Gimpel
    2018, section 4).
    """
    return min(maximum, 1 + step // anneal) if anneal else maximum


def learning_rate(highest: float, schedule: str, warmup: float, done: float) -> float:
    """The learning rate of a step.

    Args:
        highest: the setting.
        schedule: ``constant``; or ``linear``: rising linearly from 0 to ``highest``, then falling to 0.
        warmup: the share of training after which it is highest, 0 <= w < 1.
        done: the share of training that lies before the middle of this step, 0 < d < 1: so no step has a rate of 0.
    """
    if schedule == "constant":
        return highest
    return highest * (done / warmup if done < warmup else (1 - done) / (1 - warmup))
