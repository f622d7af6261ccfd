"""The steps of training, from pairs to an encoder; of files it knows none but checkpoints, through their class."""

from __future__ import annotations

import bisect
import contextlib
import logging
import math
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp import jit
from psp.errors import PspError
from psp.progress import Progress
from psp.training.aside import Aside
from psp.training.batches import Epoch, Pairs, Sentences, Source
from psp.training.candidates import candidates
from psp.training.checkpoint import Checkpoint, Checkpoints, Stopped, StopRequest
from psp.training.encoder import Encoder, MeanEncoder
from psp.training.group import Group
from psp.training.infonce import infonce_objective
from psp.training.loss import margin_objective
from psp.training.mining import Negatives, mine_by_kind
from psp.training.optimiser import DeferredAdam, DenseAdam, RowOptimiser, clip_gradient
from psp.training.records import Records
from psp.training.schedule import learning_rate, megabatch_size, snapshot_places
from psp.training.settings import TrainSettings

log = logging.getLogger(__name__)

ADVICE = "lower learning_rate, set clip, or start from another table"
#: Shares of an untrained table's loss. Above the first a training has diverged, above the second it has learnt next to
#: nothing. One epoch of 50,000 pairs ended at 0.01 to 0.4 of it under learning rates of 0.05 to 5, whatever the
#: objective, at 0.7 to 0.95 under 0.001, at 0.995 and more under 1e-5, and from 1e4 on at 0.9 to 1.14.
DIVERGED, HARDLY = 1.01, 0.97
#: So few steps, of a handful of pairs, may end above the untrained table however sound the settings are.
FEW_STEPS = 10
#: Steps after which all rows are brought up to date, at the next start of a mega-batch. Only then are checkpoints
#: written: catching up in two parts rounds otherwise than in one, so it must not depend on the clock when it is done.
CATCH_UP_EVERY = 100
#: Scores an encoder (None: it is as good as any other); the mapping has the key ``score``, larger is better.
Evaluate = Callable[[Encoder], Mapping[str, Any]]


def mean_encoder(table: Tensor, settings: TrainSettings) -> tuple[MeanEncoder, RowOptimiser]:
    """The paper's encoder over ``table``, and the optimiser that is fast for it on the table's device."""
    encoder = MeanEncoder(table, settings.dropout, settings.seed, token_dropout=settings.token_dropout)
    adam = DeferredAdam if table.device.type == "cpu" else DenseAdam
    optimiser = adam(encoder.parameters(), lr=settings.learning_rate)
    encoder.before_read = optimiser.prepare
    return encoder, optimiser


class Trainer:
    """Train an encoder in place.

    Args:
        source: the pairs.
        encoder: ids in, one vector a sentence out.
        optimiser: of the encoder's parameters.
        settings: everything that can be set.
        evaluate: scores the encoder on development data; None = there is none, and the last weights are kept.
        records: where metrics go.
        checkpoints: where to go on from, and where to write; None = nowhere.
        group: the processes that share the work.
        folder: on whose disk the best weights so far and the average are put aside; None = where temporary files are.

    Attributes:
        step: mini-batches so far.
        pairs: pairs seen so far.
        alone: pairs passed over because they were a mega-batch of their own: there was nothing to mine.
        lonely: pairs (by direction) for which every candidate of their mega-batch was excluded: no loss term.
        best: the evaluation whose weights were kept, or None.
        first_loss: that of the first mini-batch, before its step; None until then.
    """

    def __init__(
        self,
        source: Source,
        encoder: Encoder,
        optimiser: RowOptimiser,
        settings: TrainSettings,
        evaluate: Evaluate | None,
        records: Records,
        checkpoints: Checkpoints | None = None,
        group: Group | None = None,
        folder: Path | None = None,
    ) -> None:
        self.source, self.encoder, self.settings, self.records = source, encoder, settings, records
        self.step = self.pairs = self.alone = self.lonely = 0
        self.best: dict[str, Any] | None = None
        self.first_loss: float | None = None
        self._first_pairs: Pairs | None = None  # of that mini-batch
        self._optimiser, self._evaluate = optimiser, evaluate
        self._checkpoints, self._group = checkpoints, group
        self._parameters = [table for part in optimiser.param_groups for table in part["params"]]
        self._best_weights, self._average = Aside(folder), Aside(folder)
        self._places = snapshot_places(settings.epochs * len(source), settings.average, settings.average_part)
        self._averaged = 0  # places that have been passed
        self._next_evaluation = settings.dev_every
        self._rested = 0  # the step at which a checkpoint could be written
        self._epoch = 1
        self._taken = 0  # pairs of the epoch
        self._bar: Progress | None = None

    def run(self) -> dict[str, Tensor]:
        """Train for all epochs; the weights that are to be kept, by their names in the encoder.

        Raises:
            PspError: training diverged (the step is named), or no step could be made.
            Stopped: by Ctrl-C or SIGTERM, after a checkpoint.
        """
        epochs = [Epoch(self.source, self.settings.seed, n) for n in range(self._epoch, self.settings.epochs + 1)]
        total = self.settings.epochs * len(self.source)
        with contextlib.ExitStack() as stack:
            stop = stack.enter_context(StopRequest(one_of_many=self._group is not None).listening())
            for epoch, then in zip(epochs, [*epochs[1:], None], strict=True):
                epoch.then = then
                stack.enter_context(epoch)
            self._bar = stack.enter_context(Progress("training", "pairs", total, done=self.pairs))
            for epoch in epochs:
                epoch.skip(self._taken)
                while epoch.left:
                    self._rest(stop)
                    self._megabatch(epoch)
                if self.settings.dev_every is None:
                    self._development()
                self._epoch += 1
                self._taken = 0
            self._epoch -= 1
            if not self.step:
                raise PspError("nothing was trained: the store has no two pairs to tell apart")
            self._development()
            self._take_average()
        self.records.flush()
        self._catch_up()
        if not _measurable(*self._parameters):
            raise PspError(f"training diverged by step {self.step}: a row's length is not finite; {ADVICE}")
        return self._best_weights.tensors() if self._best_weights else self.encoder.state_dict()

    def check_learnt(self, refuse: bool = True) -> None:
        """After :meth:`run`: compare the loss of the last weights with that of the untrained table.

        Both are of the first mini-batch, with the same noise. (The last mini-batches' losses would not tell: mined
        negatives are harder for a better table, and come from ever larger mega-batches.) The untrained table's counts
        as no less than that of a table whose vectors are all the same: training may have begun with a trained one.
        What was hardly learnt is a warning, and so is a divergence after the evaluation whose weights were kept.

        Args:
            refuse: make an error of a divergence; else, and after a few steps alone, it is a warning.

        Raises:
            PspError: training diverged.
        """
        before, after = self.first_loss, self._first_loss_now()
        assert before is not None and self._first_pairs is not None
        untrained = max(before, self._loss_of_one_vector(len(self._first_pairs)))
        if after <= HARDLY * untrained:
            return
        what = f"the first mini-batch's loss is {after:.4g} after training and was {before:.4g} before"
        if after <= DIVERGED * untrained:
            rate = self.settings.learning_rate
            log.warning("%s: next to nothing was learnt; try another learning_rate than %g, or more epochs", what, rate)
            return
        message = f"training diverged: {what}; {ADVICE}"
        if self.settings.select == "best" and self.best is not None and self.best["step"] < self.step:
            log.warning("%s. The weights of step %d, the best, are kept", message, self.best["step"])
        elif refuse and self.step >= FEW_STEPS:
            raise PspError(message)
        else:
            log.warning("%s", message)

    def _first_loss_now(self) -> float:
        """The loss of the present weights on the first mini-batch, as it was drawn at the first step."""
        assert self._first_pairs is not None
        pairs, step, lonely = self._first_pairs, self.step, self.lonely
        sentences = Sentences.join([pairs.source, pairs.target])
        self.step = 0
        try:
            with torch.no_grad():
                negatives = self._mine(pairs, sentences) if self._mining else None
                return self._loss(pairs, sentences, np.arange(len(pairs)), negatives)[1]
        finally:
            self.step, self.lonely = step, lonely

    def _loss_of_one_vector(self, pairs: int) -> float:
        """The loss of a mini-batch whose vectors are all the same, so that all cosines are 1."""
        settings = self.settings
        if settings.objective == "margin":
            return settings.margin * (2 if settings.directions == "both" else 1)
        return math.log1p((pairs - 1) * math.exp(settings.scale * settings.margin))

    def _rest(self, stop: StopRequest) -> None:
        """Between mega-batches: bring all rows up to date every so often, and write a checkpoint if it is time."""
        if self.step - self._rested < CATCH_UP_EVERY:
            return
        self._rested = self.step
        self._catch_up()
        stopping = stop.signal is not None
        due = self._checkpoints is not None and self._checkpoints.due(self.step)
        if self._group is not None:  # what the first process decides, all do
            stopping, due = self._group.first(stopping), self._group.first(due)
        if (due or stopping) and self._checkpoints is not None and (self._group is None or self._group.rank == 0):
            self._save()
        if stopping:
            how = "start the same training again to go on from there" if self._checkpoints else "nothing was kept"
            number = stop.signal or signal.SIGTERM  # None: the process that was asked is another one of the group
            raise Stopped(f"training was stopped at step {self.step} ({self.pairs:,} pairs); {how}", number)

    def _catch_up(self) -> None:
        for table in self._parameters:
            self._optimiser.prepare(table, None)

    def _megabatch(self, epoch: Epoch) -> None:
        size = megabatch_size(self.step, self.settings.anneal, self.settings.megabatch) if self._mining else 1
        pairs = epoch.take(size * self.settings.batch_size)
        self._taken += len(pairs)
        if len(pairs) == 1:  # it could only be its own negative
            log.debug("epoch %d: its last batch is a single pair, passed over", self._epoch)
            self.alone += 1
            return
        started = time.monotonic()
        sentences = Sentences.join([pairs.source, pairs.target])
        negatives = self._mine(pairs, sentences) if self._mining else None
        self.records.mined(time.monotonic() - started)
        for start in range(0, len(pairs), self.settings.batch_size):
            rows = np.arange(start, min(start + self.settings.batch_size, len(pairs)))
            rate = self._set_learning_rate(len(rows))
            loss = self._minibatch(pairs, sentences, rows, negatives)
            if self.first_loss is None:
                self.first_loss, self._first_pairs = loss, pairs  # the first mega-batch is one mini-batch
            self.step += 1
            self.pairs += len(rows)
            self.records.step(
                step=self.step,
                epoch=self._epoch,
                pairs=self.pairs,
                megabatch=size,
                learning_rate=rate,
                loss=loss,
            )
            assert self._bar is not None
            self._bar.add(len(rows), loss=loss, megabatch=size)
            self._snapshot()
            if self._next_evaluation is not None and self.pairs >= self._next_evaluation:
                self._development()

    def _mine(self, pairs: Pairs, sentences: Sentences) -> Negatives:
        """The negatives of a mega-batch, with dropout off and the parameters of this moment."""
        settings = self.settings
        with self._precision():
            vectors = self.encoder.encode(sentences).float()
        # Unseen otherwise: NaN loses every comparison, and the cosine of a vector too long to measure is 0.
        if not _measurable(vectors):
            raise PspError(f"training diverged by step {self.step}: a vector's length is not finite; {ADVICE}")
        source, target = vectors.chunk(2)
        return mine_by_kind(
            pairs,
            source,
            target,
            negatives=settings.negatives,
            mask_equal=settings.mask_equal,
            generator=np.random.default_rng([settings.seed, 0, self.step]),  # apart from the epochs' [seed, epoch]
            group=self._group,
            reduced=True if settings.precision == "mixed" else None,
        )

    @property
    def _mining(self) -> bool:
        return self.settings.objective == "margin" or self.settings.candidates == "mined"

    def _precision(self) -> contextlib.AbstractContextManager[Any]:
        """With ``precision: mixed`` products are in bfloat16; weights and their gradients stay float32."""
        if self.settings.precision == "float32":
            return contextlib.nullcontext()
        return torch.autocast(self._parameters[0].device.type, torch.bfloat16)

    def _set_learning_rate(self, pairs: int) -> float:
        """Set that of the step that takes so many pairs."""
        settings = self.settings
        done = (self.pairs + self.alone + pairs / 2) / (settings.epochs * len(self.source))
        rate = learning_rate(settings.learning_rate, settings.schedule, settings.warmup, done)
        for part in self._optimiser.param_groups:
            part["lr"] = rate
        return rate

    def _margin(self, sentences: Sentences, rows: npt.NDArray[np.int64], negatives: Negatives) -> Tensor:
        """This process's share of the margin loss."""
        sides = [negatives.source, negatives.target][: 2 if self.settings.directions == "both" else 1]
        counts = [int((side[rows] >= 0).sum()) for side in sides]
        self.lonely += sum(len(rows) - count for count in counts)
        # This process's pairs, and each text's number in the whole mini-batch: on it depends its noise.
        first, last = (0, len(rows)) if self._group is None else self._group.share(len(rows))
        own = rows[first:last]
        slots = np.concatenate([np.arange(first, last) + part * len(rows) for part in range(2 + len(sides))])
        texts = np.concatenate([own, own + len(sentences) // 2, *(side[own].clip(min=0) for side in sides)])
        vectors = self.encoder(sentences.take(texts), self.step, slots)
        valid = [torch.from_numpy(side[own] >= 0).to(vectors.device) for side in sides]
        return self._at_lengths(vectors, lambda part: margin_objective(part, valid, self.settings.margin, counts))

    def _at_lengths(self, vectors: Tensor, loss: Callable[[Tensor], Tensor]) -> Tensor:
        """The mean of a loss over the vectors and their beginnings of the lengths of ``matryoshka``."""
        if not self.settings.matryoshka:
            return loss(vectors)
        parts = [vectors, *(vectors[:, :length].contiguous() for length in self.settings.matryoshka)]
        return torch.stack([loss(part) for part in parts]).mean()

    def _infonce(
        self, pairs: Pairs, sentences: Sentences, rows: npt.NDArray[np.int64], negatives: Negatives | None
    ) -> Tensor:
        """This process's share of InfoNCE."""
        found = candidates(pairs, rows, negatives, self.settings.mask_equal)
        self.lonely += found.lonely
        # As for the margin loss: this process's texts, and their numbers in the whole mini-batch.
        texts, slots, counts, before = [], [], [], 0
        for part in (rows, rows + len(pairs), found.source, found.target):
            first, last = (0, len(part)) if self._group is None else self._group.share(len(part))
            texts.append(part[first:last])
            slots.append(np.arange(before + first, before + last))
            counts.append(last - first)
            before += len(part)
        vectors = self.encoder(sentences.take(np.concatenate(texts)), self.step, np.concatenate(slots))
        mask = torch.from_numpy(found.refused).to(vectors.device) if found.refused.any() else None
        further = None if negatives is None else (counts[2], counts[3])
        margin, scale, group = self.settings.margin, self.settings.scale, self._group
        return self._at_lengths(
            vectors, lambda part: infonce_objective(part, margin, scale, mask, group, further=further)
        )

    def _loss(
        self, pairs: Pairs, sentences: Sentences, rows: npt.NDArray[np.int64], negatives: Negatives | None
    ) -> tuple[Tensor, float]:
        """This process's share of the loss, and what it is in all processes together."""
        with self._precision():
            if self.settings.objective == "infonce":
                loss = self._infonce(pairs, sentences, rows, negatives)
            else:
                assert negatives is not None
                loss = self._margin(sentences, rows, negatives)
        value = float(loss.detach())
        if self._group is not None:
            value = self._group.total(value)
        if not math.isfinite(value):
            raise PspError(f"training diverged at step {self.step + 1}: the loss is {value}; {ADVICE}")
        return loss, value

    def _minibatch(
        self, pairs: Pairs, sentences: Sentences, rows: npt.NDArray[np.int64], negatives: Negatives | None
    ) -> float:
        """One step of the optimiser; the loss before it."""
        loss, value = self._loss(pairs, sentences, rows, negatives)
        self._optimiser.zero_grad()
        loss.backward()
        if self._group is not None:
            self._group.add_gradients(self._parameters)
        if self.settings.clip is not None:
            clip_gradient([table.grad for table in self._parameters if table.grad is not None], self.settings.clip)
        self._optimiser.step()
        return value

    def _development(self) -> None:
        """Evaluate on development data, unless these weights have been."""
        if self.settings.dev_every is not None:
            self._next_evaluation = self.pairs + self.settings.dev_every
        history = self.records.history
        if self._evaluate is None or not self.step or (history and history[-1]["step"] == self.step):
            return
        self._score()

    def _snapshot(self) -> None:
        """Add the weights to the average, once for each place that training has passed since the last snapshot."""
        passed = bisect.bisect_right(self._places, self.pairs + self.alone)
        if passed == self._averaged:
            return
        self._catch_up()  # it rounds, but at steps that are always the same, and in all processes alike
        self._average.add(self.encoder.state_dict(), (passed - self._averaged) / len(self._places))
        self._averaged = passed

    def _take_average(self) -> None:
        """At the end: the average takes the place of the last weights, and is evaluated."""
        if not self._places:
            return
        self._snapshot()  # if the last pair was passed over, the end has none yet
        with torch.no_grad():
            weights = self.encoder.state_dict()
            for name, weight in self._average.tensors().items():
                weights[name].copy_(weight)
        if self._evaluate is not None:
            self._score(averaged=True)

    def _score(self, averaged: bool = False) -> None:
        """Evaluate these weights on development data, and keep them where they are the best."""
        started = time.monotonic()
        self._catch_up()  # in all processes alike: it rounds
        if self._group is not None and self._group.rank:
            return  # process 0 knows the scores, and keeps the best weights
        assert self._evaluate is not None
        scores = dict(self._evaluate(self.encoder))
        score = float(scores["score"])
        if not math.isfinite(score):
            raise PspError(f"the development score at step {self.step} is {score}; check the development data")
        if self._places:
            scores["averaged"] = averaged
        if self.settings.select == "last" or self.best is None or score > self.best["score"]:
            self.best = {"step": self.step, "epoch": self._epoch, "pairs": self.pairs, **scores}
            if self.settings.select == "best":
                self._best_weights.put(self.encoder.state_dict())
        self.records.evaluation(self.step, self._epoch, self.pairs, scores, time.monotonic() - started)
        assert self._bar is not None
        self._bar.add(0, dev=f"{score:.2f}")
        log.info("step %d, %d pairs: development score %.4f", self.step, self.pairs, score)

    def _save(self) -> None:
        """Write a checkpoint; only when all rows are up to date."""
        assert self._checkpoints is not None
        optimiser = self._optimiser.state_dict()["state"]
        tensors = {f"encoder.{name}": weight for name, weight in self.encoder.state_dict().items()}
        numbers: dict[str, dict[str, Any]] = {}
        for index, state in optimiser.items():
            for key, value in state.items():
                if isinstance(value, Tensor):
                    tensors[f"optimiser.{index}.{key}"] = value
                else:
                    numbers.setdefault(str(index), {})[key] = value
        for name, weight in self._best_weights.tensors().items():
            tensors[f"best.{name}"] = weight
        for name, weight in self._average.tensors().items():
            tensors[f"average.{name}"] = weight
        state = {
            "pairs": self.pairs,
            "alone": self.alone,
            "lonely": self.lonely,
            "first_loss": self.first_loss,
            "epoch": self._epoch,
            "taken": self._taken,
            "next_evaluation": self._next_evaluation,
            "averaged": self._averaged,
            "optimiser": numbers,
            "best": self.best,
            "records": self.records.state(),
        }
        self._checkpoints.save(self.step, tensors, state, self.records.files(), same="best")

    def resume(self, checkpoint: Checkpoint) -> None:
        """Take over all of a checkpoint but the records, which were given theirs when they were opened.

        Raises:
            DataError: the checkpoint is damaged.
        """
        state = checkpoint.state
        self.step = self._rested = state["step"]
        self.pairs, self.alone, self.lonely = state["pairs"], state["alone"], state["lonely"]
        self._epoch, self._taken = state["epoch"], state["taken"]
        self._next_evaluation, self.best = state["next_evaluation"], state["best"]
        self._averaged, self.first_loss = state["averaged"], state["first_loss"]
        with Epoch(self.source, self.settings.seed, 1) as epoch:
            self._first_pairs = epoch.take(self.settings.batch_size)
        # Tensors are copied into those that there are, or by clone(): one by one, and none stays a part of a file.
        with torch.no_grad():
            for name, weight in self.encoder.state_dict().items():
                weight.copy_(checkpoint.tensor(f"encoder.{name}"))
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
        for prefix, aside in (("best.", self._best_weights), ("average.", self._average)):
            if names := checkpoint.names(prefix):
                aside.put({name.removeprefix(prefix): checkpoint.tensor(name) for name in names})
        log.info("going on from step %d (%d pairs), %s", self.step, self.pairs, checkpoint.folder)


def _measurable(*tensors: Tensor) -> bool:
    """Whether every row has a finite length in float32 (rows of 1e20 are finite, their squares are not)."""
    return all(bool(torch.linalg.vector_norm(tensor.detach(), dim=-1).isfinite().all()) for tensor in tensors)


def _choose_kernels() -> None:
    """Call once, with one thread, those functions of MKL's that training calls with several.

    MKL 2024.2, which torch 2 is built with, chooses a function's code at its first call; where threads make that call
    together, one of them may run code of lower precision for its share (pytorch/pytorch#188792). Seen here as models
    that differed from InfoNCE's first exponential on, in six of some 340 processes.
    """
    one = torch.ones(1)
    for function in (torch.exp, torch.log):
        function(one)


@contextlib.contextmanager
def torch_state(threads: int) -> Iterator[None]:
    """Torch as training wants it (threads, repeatable kernels), and as it was found afterwards.

    Memory is not filled for the sake of repeatability: nothing here is read before it is written.
    """
    before = torch.get_num_threads()
    compiled_before = jit.set_threads(threads)
    deterministic = torch.are_deterministic_algorithms_enabled()
    warn_only = torch.is_deterministic_algorithms_warn_only_enabled()
    fill = torch.utils.deterministic.fill_uninitialized_memory  # type: ignore[attr-defined]
    try:
        torch.set_num_threads(threads)
        torch.use_deterministic_algorithms(True, warn_only=True)  # a GPU may lack a repeatable kernel: go on, say so
        torch.utils.deterministic.fill_uninitialized_memory = False  # type: ignore[attr-defined]
        _choose_kernels()
        yield
    finally:
        torch.set_num_threads(before)
        jit.set_threads(compiled_before)
        torch.use_deterministic_algorithms(deterministic, warn_only=warn_only)
        torch.utils.deterministic.fill_uninitialized_memory = fill  # type: ignore[attr-defined]
