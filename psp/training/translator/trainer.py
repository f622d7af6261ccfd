"""The training loop of a translator: batches in, the best weights out, and checkpoints to resume from.

A resumed run gives the bytes of an uninterrupted one: batches follow from the seed and the pass, dropout from the seed
and the step, and everything else that changes (weights, Adam's moments, averages, scores) is in the checkpoint.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor

from psp.config.blocks.translator import TranslatorSettings
from psp.core.errors import PspError
from psp.core.jit import mix
from psp.core.logs import Progress
from psp.core.machine import in_bfloat16
from psp.inference.translation.base import limit
from psp.training.saving.checkpoint import Checkpoint, Checkpoints, StopRequest
from psp.training.saving.csv_log import CsvLog
from psp.training.translator.data import Batches, TranslationPairs, make_batch, padded
from psp.training.translator.loss import smoothed_cross_entropy
from psp.training.translator.model import Flat, TranslatorModel
from psp.training.translator.score import bleu

log = logging.getLogger(__name__)

METRICS = ("step", "pass", "pairs", "target_tokens", "learning_rate", "loss", "gradient_norm")
TIMING = ("step", "seconds", "pairs_per_second", "target_tokens_per_second")
SCORES = ("step", "bleu")
_TABLES = {"metrics.csv": METRICS, "timing.csv": TIMING, "dev.csv": SCORES}
#: Sentences that are translated at a time, for scores.
_AT_A_TIME = 64


class Ended(NamedTuple):
    """How training ended.

    Attributes:
        by: the limit that was reached: ``epochs``, ``steps``, ``minutes`` or ``patience``.
        best: step and BLEU of the weights that were kept.
    """

    by: str
    best: tuple[int, float]


def learning_rate(step: int, settings: TranslatorSettings, total: int | None) -> float:
    """The learning rate of a step, from 1; ``total`` is the number of steps, if it is known."""
    highest, warmup = settings.learning_rate, settings.warmup
    if step <= warmup:
        return highest * step / warmup
    if settings.schedule == "inverse_sqrt":
        return highest * math.sqrt(max(warmup, 1) / step)
    assert total is not None  # ensured by the settings
    return highest * (total + 1 - step) / max(1, total + 1 - warmup)


class TranslatorTrainer:
    """A run of training.

    Args:
        network: the network, its first weights drawn, on ``device``; becomes the best one.
        pairs: the training pairs.
        processor: the sentencepiece model.
        development: pairs (source, target) that select the best weights.
        settings: see :class:`psp.config.blocks.translator.TranslatorSettings`.
        seed: of batches and dropout.
        folder: for metrics.csv, dev.csv and timing.csv.
        checkpoints: where the run is saved.
        target_language: of the development pairs, for BLEU.
    """

    def __init__(
        self,
        network: TranslatorModel,
        pairs: TranslationPairs,
        processor: Any,
        development: Sequence[tuple[str, str]],
        settings: TranslatorSettings,
        *,
        seed: int,
        folder: Path,
        checkpoints: Checkpoints,
        target_language: str,
    ) -> None:
        self.network, self.pairs, self.processor, self.settings = network, pairs, processor, settings
        self.development, self.seed, self.folder = development, seed, folder
        self.checkpoints, self.target_language = checkpoints, target_language
        self.flat = Flat(network)
        self.device = self.flat.weights.device
        self._low = in_bfloat16(settings.precision, self.device.type, "precision")
        weights = self.flat.weights
        self.tensors = {
            "weights": weights,
            "moments.1": torch.zeros_like(weights),
            "moments.2": torch.zeros_like(weights),
            "average": weights.clone(),
            "best.weights": weights.clone(),
        }
        self.batches = Batches(pairs, settings.batch_tokens, seed)
        self.step = self.epoch = self.place = self.seen = self.tokens = 0
        self.seconds = 0.0
        self.scores: list[tuple[int, float]] = []
        self.resumed_at = self.tokens_before = 0
        self._loss, self._norm, self._logged = 0.0, 0.0, (0, 0, 0)
        lead = torch.nn.Parameter(weights)
        lead.grad = self.flat.gradients
        # Adam (Kingma & Ba 2015) with the second moment's decay of Vaswani et al. (2017, section 5.3).
        self._adam = torch.optim.Adam([lead], lr=0.0, betas=(0.9, 0.98), eps=1e-9, fused=True)
        self._steps = torch.zeros((), device=self.device)
        moments = {"exp_avg": self.tensors["moments.1"], "exp_avg_sq": self.tensors["moments.2"]}
        self._adam.state[lead] = {"step": self._steps, **moments}

    @property
    def total(self) -> int | None:
        """Steps of the whole training run, unless a clock or a score ends it; None if unknown."""
        of_passes = self.settings.epochs and self.settings.epochs * -(-len(self.batches) // self.settings.accumulate)
        limits = [limit for limit in (self.settings.steps, of_passes) if limit]
        return min(limits, default=None)

    def run(self, stop: StopRequest) -> Ended | None:
        """Train; None if a signal stopped it, after a checkpoint.

        Raises:
            PspError: training diverged.
            DataError: a file cannot be written.
        """
        files: Mapping[str, bytes] = {}
        if (checkpoint := self.checkpoints.latest()) is not None:
            files = self._go_on(checkpoint)
        begun, before = time.monotonic(), self.seconds
        with contextlib.ExitStack() as stack:
            tables = {name: CsvLog(self.folder / name, kind, files.get(name, b"")) for name, kind in _TABLES.items()}
            for table in tables.values():
                stack.callback(table.close)
            bar = stack.enter_context(Progress("training the translator", "steps", self.total, self.step))
            ended: str | None = None
            for rows in self._updates():
                self._update(rows)
                self.seconds = before + time.monotonic() - begun
                bar.add(1)
                if self.step % self.settings.log_every == 0:
                    bar.add(0, loss=self._log(tables))
                if self.step % self.settings.evaluate_every == 0:
                    bar.add(0, bleu=self._score(tables["dev.csv"]))
                    self.seconds = before + time.monotonic() - begun
                ended = self._ended()
                if stop.signal is not None or (self.checkpoints.due(self.step) and ended is None):
                    self._save()
                if stop.signal is not None:
                    return None
                if ended is not None:
                    break
            if not self.scores or self.scores[-1][0] != self.step:
                self._score(tables["dev.csv"])
        best = max(self.scores, key=lambda one: (one[1], -one[0]))
        self.flat.weights.copy_(self.tensors["best.weights"])
        self.network.eval()
        return Ended(ended or "epochs", best)

    def _updates(self) -> Iterator[list[npt.NDArray[np.int64]]]:
        """The batches of each step, from the run's position on."""
        passes = (
            itertools.count(self.epoch) if self.settings.epochs is None else range(self.epoch, self.settings.epochs)
        )
        for self.epoch in passes:
            batches = itertools.islice(self.batches.of_pass(self.epoch), self.place, None)
            while rows := list(itertools.islice(batches, self.settings.accumulate)):
                self.place += len(rows)
                yield rows
            self.place = 0

    def _ended(self) -> str | None:
        settings = self.settings
        if settings.steps is not None and self.step >= settings.steps:
            return "steps"
        if settings.minutes is not None and self.seconds >= 60 * settings.minutes:
            return "minutes"
        if settings.patience is not None and self.scores:
            best = max(range(len(self.scores)), key=lambda place: self.scores[place][1])
            if len(self.scores) - 1 - best >= settings.patience:
                return "patience"
        return None

    def _update(self, rows: Sequence[npt.NDArray[np.int64]]) -> None:
        """One step, of the sum of some batches."""
        settings, flat = self.settings, self.flat
        self.step += 1
        torch.manual_seed(
            int(mix(np.array([self.seed * 0x1_0000_0000 + self.step], dtype=np.uint64))[0] >> np.uint64(1))
        )
        self.network.train()
        batches = [make_batch(self.pairs, chosen, self.device) for chosen in rows]
        tokens = sum(len(batch.wanted) for batch in batches)
        low = self._low
        flat.gradients.zero_()
        loss = 0.0
        for batch in batches:
            with torch.autocast(self.device.type, torch.bfloat16, enabled=low):
                hidden = self.network(batch.source, batch.mask, batch.target)
            hidden = hidden.reshape(-1, hidden.shape[-1])
            hidden = hidden if batch.places is None else hidden[batch.places]
            total = smoothed_cross_entropy(
                hidden, self.network.output_weight, batch.wanted, settings.label_smoothing, bfloat16=low
            )
            (total / tokens).backward()
            loss += float(total.detach())
        norm = float(flat.gradients.norm())
        if not math.isfinite(norm):
            raise PspError(
                f"training diverged at step {self.step:,}: a gradient is not finite; write a lower `learning_rate` "
                f"than {settings.learning_rate:g}, or a longer `warmup`"
            )
        if settings.clip is not None and norm > settings.clip:
            flat.gradients.mul_(settings.clip / norm)
        self._adam.param_groups[0]["lr"] = learning_rate(self.step, settings, self.total)
        self._adam.step()
        # At first the average covers all steps so far, until they are as many as it reaches back.
        kept = min(settings.average, self.step / (self.step + 9)) if settings.average else 0.0
        self.tensors["average"].lerp_(flat.weights, 1 - kept)
        self.seen += sum(map(len, rows))
        self.tokens += tokens
        self._loss += loss
        self._norm += norm

    def _log(self, tables: Mapping[str, CsvLog]) -> float:
        steps, _, tokens = (
            now - then for now, then in zip((self.step, self.seen, self.tokens), self._logged, strict=True)
        )
        loss = self._loss / max(tokens, 1)
        values = (
            self.step, self.epoch + 1, self.seen, self.tokens,
            learning_rate(self.step, self.settings, self.total), loss, self._norm / max(steps, 1),
        )  # fmt: skip
        tables["metrics.csv"].row(dict(zip(METRICS, values, strict=True)))
        rates = (round(self.seconds, 2), round(self.seen / self.seconds, 1), round(self.tokens / self.seconds, 1))
        tables["timing.csv"].row(dict(zip(TIMING, (self.step, *rates), strict=True)))
        self._loss = self._norm = 0.0
        self._logged = self.step, self.seen, self.tokens
        return loss

    def _score(self, table: CsvLog) -> float:
        """Score the averaged weights on the development pairs, and keep them if they are the best."""
        own = self.flat.weights.clone()
        kept = self.tensors["average"]
        self.flat.weights.copy_(kept)
        texts = translate_greedily(
            self.network, self.processor, [source for source, _ in self.development], self.settings.max_tokens
        )
        self.flat.weights.copy_(own)
        bleu_now = bleu(texts, [target for _, target in self.development], self.target_language)
        if not self.scores or bleu_now > max(score for _, score in self.scores):
            self.tensors["best.weights"].copy_(kept)
        self.scores.append((self.step, bleu_now))
        table.row({"step": self.step, "bleu": bleu_now})
        log.info("step %d: BLEU %.2f on %d development pairs", self.step, bleu_now, len(self.development))
        return bleu_now

    def _save(self) -> None:
        best = max(self.scores, key=lambda one: (one[1], -one[0]))[0] if self.scores else 0
        state = {
            "epoch": self.epoch, "place": self.place, "seen": self.seen, "tokens": self.tokens,
            "seconds": self.seconds, "scores": self.scores, "loss": self._loss, "norm": self._norm,
            "logged": self._logged, "best": best,
        }  # fmt: skip
        files = {name: (self.folder / name).read_bytes() for name in _TABLES}
        self.checkpoints.save(self.step, self.tensors, state, files, same="best")

    def _go_on(self, checkpoint: Checkpoint) -> dict[str, bytes]:
        """Load a checkpoint; return the contents of the tables at that time."""
        state = checkpoint.state
        for name, tensor in self.tensors.items():
            tensor.copy_(checkpoint.tensor(name))
        self.step = self.resumed_at = int(state["step"])
        self._steps.fill_(self.step)
        self.epoch, self.place, self.seen, self.tokens = (state[key] for key in ("epoch", "place", "seen", "tokens"))
        self.tokens_before = self.tokens
        self.seconds, self._loss, self._norm = state["seconds"], state["loss"], state["norm"]
        self.scores = [(step, score) for step, score in state["scores"]]
        self._logged = tuple(state["logged"])
        if self.place >= len(self.batches):
            self.epoch, self.place = self.epoch + 1, 0
        log.info("going on at step %d from %s", self.step, checkpoint.folder)
        return checkpoint.files(tuple(_TABLES))


def translate_greedily(network: TranslatorModel, processor: Any, texts: Sequence[str], max_tokens: int) -> list[str]:
    """Translate greedily in float32, to at most twice the source's length plus 10 subwords.

    Args:
        network: it is left in evaluation mode.
        processor: its sentencepiece model.
        texts: cut after ``max_tokens`` subwords.
    """
    network.eval()
    device = network.positions.device
    start, end = processor.bos_id(), processor.eos_id()
    ids = [one[:max_tokens] for one in processor.encode(list(texts), out_type=int)]
    order = sorted(range(len(ids)), key=lambda place: len(ids[place]))
    translations = [""] * len(ids)
    for begin in range(0, len(order), _AT_A_TIME):
        places = order[begin : begin + _AT_A_TIME]
        source, there = padded([np.array([*ids[place], end]) for place in places])
        mask: Tensor | None = None if there is None else there[:, None, None, :].to(device)
        most = [limit(len(ids[place])) for place in places]
        written = network.greedy(source.to(device), mask, start=start, end=end, never=processor.unk_id(), most=most)
        for place, text in zip(places, processor.decode(written), strict=True):
            translations[place] = text
    return translations
