"""Sentence-transformers' trainer, for :class:`psp.training.transformer.TransformerTraining`.

The training loop, loss, sampler, schedule and checkpoints are the library's. Ours differs in this: it writes nothing to
a network or the screen, makes no model card, computes the validation score, and resumes only from whole checkpoints.
"""

from __future__ import annotations

import contextlib
import functools
import logging
import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from sentence_transformers import (
    SentenceTransformer,
    SentenceTransformerTrainer,
    SentenceTransformerTrainingArguments,
)
from sentence_transformers.sentence_transformer.losses import (
    CachedMultipleNegativesRankingLoss,
    EmbedDistillLoss,
    MultipleNegativesRankingLoss,
)
from sentence_transformers.sentence_transformer.training_args import BatchSamplers
from transformers import TrainerCallback
from transformers.trainer_callback import PrinterCallback

from psp.config.blocks.transformer import TransformerSettings
from psp.core.errors import PspError
from psp.core.files import atomic_text
from psp.core.logs import Progress
from psp.core.machine import in_bfloat16
from psp.evaluation.development import Development
from psp.evaluation.scorers import EmbeddingScorer
from psp.training.saving.checkpoint import StopRequest
from psp.training.saving.library_checkpoints import CHECKPOINTS, KEPT, write_metrics
from psp.training.transformer.dataset import LABEL
from psp.training.transformer.pieces import in_pieces

log = logging.getLogger(__name__)

#: In a checkpoint: the matrix that maps vectors to the teacher's dimension; it is not part of the model.
PROJECTION = "projection.safetensors"
_COLUMNS = ("step", "epoch", "loss", "learning_rate", "grad_norm", "dev", "pearson", "error")


def score(model: SentenceTransformer, settings: TransformerSettings, development: Development) -> dict[str, Any]:
    """The development score of a model, which stays in the mode (training or not) that it was in."""
    training = model.training
    model.eval()
    bfloat16 = in_bfloat16(settings.precision, model.device.type, "transformer.precision")
    embed = functools.partial(
        model.encode, batch_size=settings.batch_size, show_progress_bar=False, convert_to_numpy=True
    )
    with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=bfloat16):
        scores = development.score(EmbeddingScorer(SimpleNamespace(embed_raw_text=embed)))
    model.train(training)
    log.info("development score %.2f", scores["score"])
    return dict(scores)


class _Trainer(SentenceTransformerTrainer):
    def add_model_card_callback(self, default_args_dict: dict[str, Any]) -> None:
        """None: it embeds a thousand texts for examples, and asks the hub about the data."""

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        # The library's also makes a model card, and pickles its arguments.
        assert output_dir is not None
        Path(output_dir).mkdir(parents=True, exist_ok=True)
        self.model.save_pretrained(output_dir, create_model_card=False)
        if getattr(self.loss, "projection", None) is not None:
            self.loss.save_projection(str(Path(output_dir) / PROJECTION))


class _Follower(TrainerCallback):
    """Shows progress, computes the validation score after each pass, stops when asked to."""

    def __init__(
        self,
        settings: TransformerSettings,
        development: Development | None,
        stop: StopRequest,
        folder: Path,
    ) -> None:
        self.settings, self.development, self.stop, self.folder = settings, development, stop, folder
        self.stopped = False
        self.progress: Progress | None = None
        self.trainer: Any = None
        self.steps = 0
        self.stack = contextlib.ExitStack()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        bar = Progress("training", "mini-batches", state.max_steps, state.global_step)
        self.progress = self.stack.enter_context(bar)

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        self.steps += 1
        if self.progress is not None:
            self.progress.add(1)
        self.stopped = self.stop.signal is not None
        if self.stopped:
            control.should_save, control.should_training_stop = True, True
        return control

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        write_metrics(self.folder / "metrics.csv", state.log_history, _COLUMNS, "dev")
        if self.progress is not None and "loss" in (logs or {}):
            self.progress.add(0, loss=float(logs["loss"]))

    def on_epoch_end(self, args: Any, state: Any, control: Any, model: Any = None, **kwargs: Any) -> None:
        if self.development is not None and not self.stopped:
            scores = score(model, self.settings, self.development)
            self.trainer.log({"dev": scores["score"], "pearson": scores["pearson"], "error": scores["error"]})


def run(
    model: SentenceTransformer,
    dataset: Any,
    settings: TransformerSettings,
    last: Path | None,
    train_dir: Path,
    development: Development | None,
    stop: StopRequest,
    *,
    seed: int,
) -> dict[str, Any]:
    """Train a model in place, or resume that.

    Args:
        model: as for :func:`psp.training.transformer.base.build`.
        dataset: pairs; if there is a column of a teacher's vectors, these are learnt instead of the ranking of pairs.
        settings: how.
        last: the checkpoint from which training resumes.
        train_dir: where metrics.csv goes, and checkpoints/.
        development: scored after each pass, or None.
        stop: training ends after the mini-batch in which this hears a signal; a checkpoint is then there.
        seed: of batches and dropout.

    Returns:
        ``steps``, ``resumed_at``, ``loss`` (the mean of the last rows of metrics.csv), ``history`` (its rows),
        ``mini_batches`` and ``seconds`` of this process alone; ``stopped``, whether it was asked to stop.

    Raises:
        PspError: the loss or a weight is not a finite number.
    """
    directions = ("query_to_doc",) if settings.directions == "source" else ("query_to_doc", "doc_to_query")
    # For two directions a softmax each, averaged: the usual symmetric loss.
    how: dict[str, Any] = {"scale": settings.scale, "directions": directions, "partition_mode": "per_direction"}
    loss: Any
    targets = dataset[:1].get(LABEL)
    if targets is not None:
        width = len(targets[0])
        projected = None if width == model.get_embedding_dimension() else width
        loss = EmbedDistillLoss(model, distance_metric="cosine", projection_dim=projected)
    elif settings.cached is None:
        loss = MultipleNegativesRankingLoss(model, **how)
    else:
        loss = CachedMultipleNegativesRankingLoss(model, mini_batch_size=settings.cached, **how)
    cpu = model.device.type == "cpu"
    saving = settings.checkpoint_steps is not None
    arguments = SentenceTransformerTrainingArguments(
        output_dir=str(train_dir / CHECKPOINTS),
        num_train_epochs=settings.epochs,
        per_device_train_batch_size=settings.batch_size,
        learning_rate=settings.learning_rate,
        warmup_steps=settings.warmup,  # below 1: a share of all steps
        lr_scheduler_type="linear",
        # A text that occurs twice in a mini-batch would be its own negative; a teacher's vector has no negatives.
        batch_sampler=BatchSamplers.NO_DUPLICATES if targets is None else BatchSamplers.BATCH_SAMPLER,
        bf16=in_bfloat16(settings.precision, "cpu" if cpu else "cuda", "transformer.precision"),
        use_cpu=cpu,
        dataloader_pin_memory=not cpu,
        seed=seed,
        data_seed=seed,
        save_strategy="steps" if saving else "no",
        save_steps=settings.checkpoint_steps or 1,
        save_total_limit=KEPT,
        logging_strategy="steps",
        logging_steps=settings.log_every,
        logging_first_step=True,
        logging_nan_inf_filter=False,
        report_to=[],
        disable_tqdm=True,
        push_to_hub=False,
    )
    if not cpu:
        # With several visible GPUs the library would copy the model to each of them at every step.
        assert arguments.device.type == "cuda"
        arguments._n_gpu = 1
    follower = _Follower(settings, development, stop, train_dir)
    trainer = _Trainer(model=model, args=arguments, train_dataset=dataset, loss=loss, callbacks=[follower])
    follower.trainer = trainer
    trainer.remove_callback(PrinterCallback)  # it prints
    if last is not None:
        log.info("training resumes from %s", last)
        if getattr(loss, "projection", None) is not None:
            loss.load_projection(str(last / PROJECTION))
    pieces = in_pieces(model[0]) if cpu else contextlib.nullcontext()
    with follower.stack, pieces:
        result = trainer.train(resume_from_checkpoint=None if last is None else str(last))
    done = any("dev" in row and row["step"] == trainer.state.global_step for row in trainer.state.log_history)
    if development is not None and not done and not follower.stopped:  # killed after its last mini-batch
        follower.on_epoch_end(arguments, trainer.state, trainer.control, model=model)
    history = [row for row in trainer.state.log_history if "loss" in row or "dev" in row]
    losses = [row["loss"] for row in history if "loss" in row]
    weights = sum(float(one.detach().double().abs().sum()) for one in model.parameters())
    if not all(map(math.isfinite, [*losses, weights])):
        raise PspError(
            "training diverged: the loss or a weight is not a finite number; lower learning_rate, or write "
            "`precision: float32`"
        )
    return {
        "steps": int(trainer.state.global_step),
        "resumed_at": None if last is None else int(last.name.rpartition("-")[2]),
        "loss": round(float(np.mean(losses[-3:])), 4) if losses else None,
        "history": history,
        "stopped": follower.stopped,
        "mini_batches": follower.steps,
        "seconds": round(float(result.metrics["train_runtime"]), 2),
    }


def write_timing(path: Path, steps: int, pairs: int, *, seconds: float, pairs_per_second: float) -> None:
    """Write one row where other trainings write many; :mod:`psp.evaluation.variants` reads it."""
    with atomic_text(path) as file:
        file.write(f"step,pairs,seconds,pairs_per_second\n{steps},{pairs},{seconds},{pairs_per_second}\n")
