"""Transformers' trainer, for :func:`psp.training.translator.train_translator`.

The training loop, Adam, schedules and checkpoints are the library's. Ours differs in this: batches are of sentences of
equal length, an average of the weights is scored by BLEU, and the best is kept; it writes nothing to a network or the
screen, and resumes only from whole checkpoints, to the same weights as without an interruption.
"""

from __future__ import annotations

import contextlib
import copy
import functools
import logging
import math
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_model, save_model
from torch import Tensor
from torch.nn.functional import cross_entropy
from torch.optim.swa_utils import AveragedModel
from torch.utils.data import DataLoader
from transformers import Trainer, TrainerCallback, TrainingArguments
from transformers.trainer_callback import PrinterCallback

from psp.config.blocks.translator import TranslatorSettings
from psp.core.errors import PspError
from psp.core.files import read_json, write_json
from psp.core.logs import Progress
from psp.training.saving.checkpoint import StopRequest
from psp.training.saving.library_checkpoints import CHECKPOINTS, KEPT, write_metrics
from psp.training.translator.data import IGNORED, Batches, TranslationPairs, collate

log = logging.getLogger(__name__)

_COLUMNS = ("step", "epoch", "loss", "learning_rate", "grad_norm", "bleu")
#: Files in a checkpoint beside the library's.
_AVERAGE, _BEST, _COUNTS = "average.safetensors", "best.safetensors", "counts.json"
#: Steps of a training that only a clock or a score ends.
_ENDLESS = 10**9


class _Loader(DataLoader[Any]):
    def set_epoch(self, number: int) -> None:  # the library calls it before each pass
        self.batch_sampler.set_epoch(number)  # type: ignore[union-attr]


class TranslatorTrainer(Trainer):
    """A run of training.

    Args:
        network: a ``PegasusForConditionalGeneration``, its first weights drawn.
        pairs: the training pairs.
        settings: see :class:`psp.config.blocks.translator.TranslatorSettings`.
        score: BLEU of a network on the development pairs.
        last: the checkpoint from which training resumes.
        train_dir: for metrics.csv, and checkpoints/.
        stop: training ends after the step in which this hears a signal; a checkpoint is then there.
        bfloat16: whether products are computed in bfloat16.
        device: cpu or cuda.
        seed: of batches and dropout.

    Attributes:
        best: the network with the best averaged weights; None before the first score.
        scores: each score's step and BLEU.
        ended: what ended training: ``epochs``, ``steps``, ``minutes`` or ``patience``; None if a signal did.
        pairs_seen: pairs in all batches so far.
    """

    def __init__(
        self,
        network: Any,
        pairs: TranslationPairs,
        settings: TranslatorSettings,
        score: Callable[[Any], float],
        last: Path | None,
        train_dir: Path,
        stop: StopRequest,
        *,
        bfloat16: bool,
        device: str,
        seed: int,
    ) -> None:
        self.network, self.pairs, self.settings, self.score = network, pairs, settings, score
        self.last, self.train_dir, self.stop = last, train_dir, stop
        self.batches = Batches(pairs, settings.batch_tokens, seed)
        of_passes = settings.epochs and settings.epochs * -(-len(self.batches) // settings.accumulate)
        #: Steps of the whole training, unless a clock or a score ends it; None if unknown.
        self.total = min((limit for limit in (settings.steps, of_passes) if limit), default=None)
        self.pairs_seen, self.seconds = 0, 0.0
        self.ended: str | None = None
        self.best: Any = None
        arguments = TrainingArguments(
            output_dir=str(train_dir / CHECKPOINTS),
            max_steps=self.total or _ENDLESS,
            gradient_accumulation_steps=settings.accumulate,
            learning_rate=settings.learning_rate,
            lr_scheduler_type=settings.schedule,
            warmup_steps=settings.warmup,
            # Adam (Kingma & Ba 2015) with the second moment's decay of Vaswani et al. (2017, section 5.3).
            optim="adamw_torch_fused",
            adam_beta1=0.9,
            adam_beta2=0.98,
            adam_epsilon=1e-9,
            max_grad_norm=settings.clip or 0.0,
            bf16=bfloat16,
            use_cpu=device == "cpu",
            seed=seed,
            save_strategy="no",  # the follower decides when
            save_total_limit=KEPT,
            logging_steps=settings.log_every,
            logging_nan_inf_filter=False,
            report_to=[],
            disable_tqdm=True,
            push_to_hub=False,
            use_cache=True,  # by those who load the model, not in training
        )
        if device == "cuda":
            # With several visible GPUs the library would copy the model to each of them at every step.
            assert arguments.device.type == "cuda"
            arguments._n_gpu = 1
        self.follower = _Follower(self)
        super().__init__(model=network, args=arguments, train_dataset=pairs, callbacks=[self.follower])
        self.remove_callback(PrinterCallback)  # it prints
        self.averaged = AveragedModel(network, multi_avg_fn=functools.partial(_average, settings.average))

    @property
    def scores(self) -> list[tuple[int, float]]:
        return [(int(row["step"]), row["bleu"]) for row in self.state.log_history if "bleu" in row]

    def run(self) -> int:
        """Train, resuming from the last checkpoint; return that one's step, or 0.

        Raises:
            PspError: training diverged.
        """
        if (last := self.last) is not None:
            log.info("training resumes from %s", last)
            counts = read_json(last / _COUNTS)
            self.pairs_seen, self.seconds = counts["pairs_seen"], counts["seconds"]
            load_model(self.averaged, last / _AVERAGE)
            if (last / _BEST).is_file():
                self.best = copy.deepcopy(self.averaged.module)
                load_model(self.best, last / _BEST)
        with self.follower.stack:
            self.train(resume_from_checkpoint=None if last is None else str(last))
        return 0 if last is None else int(last.name.rpartition("-")[2])

    def get_train_dataloader(self) -> _Loader:
        collated = functools.partial(collate, start=self.network.config.decoder_start_token_id)
        return _Loader(self.pairs, batch_sampler=self.batches, collate_fn=collated)

    def compute_loss(
        self, model: Any, inputs: dict[str, Tensor], return_outputs: bool = False, num_items_in_batch: Any = None
    ) -> Any:
        """The mean over a step's target subwords of the cross-entropy."""
        labels = inputs.pop("labels")
        self.pairs_seen += len(labels)
        logits = model(**inputs, use_cache=False).logits
        loss = cross_entropy(
            logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORED, reduction="sum",
            label_smoothing=self.settings.label_smoothing,
        ) / num_items_in_batch  # fmt: skip
        if not math.isfinite(loss.detach()):
            raise self.diverged(self.state.global_step + 1)
        return loss

    def diverged(self, step: int) -> PspError:
        return PspError(
            f"training diverged at step {step:,}: the loss or a weight is not finite; write a lower `learning_rate` "
            f"than {self.settings.learning_rate:g}, or a longer `warmup`"
        )

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:
        """Score the averaged weights on the development pairs, and keep them if they are the best."""
        if not all(bool(weight.isfinite().all()) for weight in self.averaged.parameters()):
            raise self.diverged(self.state.global_step)
        bleu, before = self.score(self.averaged.module), self.scores
        if not before or bleu > max(score for _, score in before):
            self.best = copy.deepcopy(self.averaged.module)
        log.info("step %d: BLEU %.2f on the development pairs", self.state.global_step, bleu)
        self.log({"bleu": bleu})
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, {"bleu": bleu})
        return {"bleu": bleu}

    def _save(self, output_dir: str | None = None, state_dict: Any = None) -> None:
        # The library's also pickles its arguments.
        assert output_dir is not None
        self.network.save_pretrained(output_dir)
        save_model(self.averaged, f"{output_dir}/{_AVERAGE}")
        if self.best is not None:
            save_model(self.best, f"{output_dir}/{_BEST}")
        write_json(Path(output_dir) / _COUNTS, {"pairs_seen": self.pairs_seen, "seconds": self.seconds})


def _average(share: float, averages: Sequence[Tensor], weights: Sequence[Tensor], steps: Tensor) -> None:
    """Move averages towards the weights; until the steps are as many as it reaches back, it covers all of them."""
    kept = min(share, float((steps + 1) / (steps + 10))) if share else 0.0
    torch._foreach_lerp_(list(averages), list(weights), 1 - kept)


class _Follower(TrainerCallback):
    """Decides at each step whether to score, to save and to end; shows progress."""

    def __init__(self, trainer: TranslatorTrainer) -> None:
        self.trainer = trainer
        self.stack = contextlib.ExitStack()

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.progress = self.stack.enter_context(
            Progress("training the translator", "steps", self.trainer.total, state.global_step)
        )
        self.begun, self.before = time.monotonic(), self.trainer.seconds
        self.saved, self.saved_at = state.global_step, time.monotonic()

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        trainer, settings, step = self.trainer, self.trainer.settings, state.global_step
        trainer.averaged.update_parameters(trainer.network)
        trainer.seconds = self.before + time.monotonic() - self.begun
        self.progress.add(1)
        if control.should_training_stop:  # the library has counted the steps
            trainer.ended = "steps" if step == settings.steps else "epochs"
        elif settings.minutes is not None and trainer.seconds >= 60 * settings.minutes:
            trainer.ended = "minutes"
        stopped = trainer.stop.signal is not None
        control.should_training_stop = stopped or trainer.ended is not None
        control.should_evaluate = step % settings.evaluate_every == 0 or trainer.ended is not None
        control.should_save = trainer.ended is None and (stopped or self._due(step))
        return control

    def _due(self, step: int) -> bool:
        minutes, steps = self.trainer.settings.checkpoint_minutes, self.trainer.settings.checkpoint_steps
        by_time = minutes is not None and time.monotonic() - self.saved_at >= 60 * minutes
        return by_time or (steps is not None and step - self.saved >= steps)

    def on_evaluate(self, args: Any, state: Any, control: Any, **kwargs: Any) -> Any:
        scores, patience = [bleu for _, bleu in self.trainer.scores], self.trainer.settings.patience
        self.progress.add(0, bleu=scores[-1])
        if patience is not None and len(scores) - 1 - scores.index(max(scores)) >= patience:
            self.trainer.ended = self.trainer.ended or "patience"
            control.should_training_stop, control.should_save = True, False
        return control

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self.saved, self.saved_at = state.global_step, time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:
        write_metrics(self.trainer.train_dir / "metrics.csv", state.log_history, _COLUMNS, "bleu")
        if "loss" in (logs or {}):
            self.progress.add(0, loss=float(logs["loss"]))
