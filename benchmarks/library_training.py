"""Training with sentence-transformers and model2vec on a finished model's pairs; benchmarks/libraries.py runs it.

Both are trained by their own loops with their own defaults, or those of their guide. Only the end is ours: a clock that
stops them between two steps.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psp.core.errors import DataError, PspError
from psp.core.files import read_json
from psp.models.exports import tokenizer as export
from psp.models.static import StaticModel
from psp.pairs.pair_file import read_pairs
from psp.pairs.text_pairs import open_source
from psp.training.encoders.mean import normal_table
from psp.training.initial import initial_table
from psp.training.settings import TrainSettings

SENTENCE_TRANSFORMERS, MODEL2VEC = "sentence-transformers", "model2vec"
#: Modules that training with a library imports.
MODULES = {
    SENTENCE_TRANSFORMERS: ("sentence_transformers", "datasets", "accelerate"),
    MODEL2VEC: ("model2vec", "datasets"),
}
#: sentence-transformers' losses; and model2vec's, which has one, for a table alone or below a head.
MNRL, MARGIN = "MultipleNegativesRankingLoss", "MegaBatchMarginLoss"
TABLE, HEAD = "InfoNCE, no head", "InfoNCE, default head"
#: The learning rate of the guide to static embeddings; the default of `fit`.
GUIDE = {SENTENCE_TRANSFORMERS: 0.2, MODEL2VEC: 0.001}
#: Those of which the best is chosen. model2vec's are all above its default: in 15 seconds on English-French, validation
#: scores rose from 0.001 to 0.03, while 0.2 was the best of sentence-transformers' four.
FOUR = {SENTENCE_TRANSFORMERS: (0.02, 0.06, 0.2, 0.6), MODEL2VEC: (0.003, 0.01, 0.03, 0.1)}
#: The guide's settings (https://huggingface.co/blog/static-embeddings). Its bfloat16 is for GPUs.
BATCH, WARMUP, PASSES = 2048, 0.1, 1
TEXTS = 1024  # that `encode` takes at a time; no vector depends on it


@dataclass
class Clock:
    """The seconds since training began, their limit, and the pairs seen."""

    limit: float
    pairs: int = 0
    began: float = field(default_factory=time.perf_counter)

    @property
    def seconds(self) -> float:
        return time.perf_counter() - self.began

    @property
    def over(self) -> bool:
        return self.seconds >= self.limit


class Embedder:
    """A library's `encode` as what psp's evaluation asks for vectors."""

    def __init__(self, encode: Callable[[list[str]], np.ndarray]) -> None:
        self._encode = encode

    def embed_raw_text(self, sentences: list[str], /) -> np.ndarray:
        return self._encode(sentences)


class Trained(NamedTuple):
    """A library's trained model.

    Attributes:
        pairs, seconds: seen, and taken.
        batch_size: pairs of a mini-batch.
        stopped: whether it was the clock that ended training.
        models: the model; under several names if there is more than one way to use it.
    """

    pairs: int
    seconds: float
    batch_size: int
    stopped: bool
    models: dict[str, Embedder]


class Task:
    """What all are trained on: the pairs, subwords, dimensions and seed of a finished model.

    Attributes:
        model: psp's model.
        settings: of its training.
        source, target: the training pairs.
        heldout: the pairs for validation.
        tokenizer: the model's sentencepiece model as a ``tokenizers.Tokenizer``, which also lower-cases.

    Args:
        folder: the model's folder under results/.
        threads: for reading text.

    Raises:
        DataError: a file is missing or damaged, or is not of the same model as the others.
        PspError: what the libraries cannot do: segment text, or start as the model did.
    """

    def __init__(self, folder: Path, threads: int) -> None:
        report = read_json(folder / "train/train.json")
        if report["initialised_from"]:
            raise PspError(
                f"{folder}: its training began with another model's embeddings (init_from), not with its own"
            )
        self.model = StaticModel.load(folder / "model", threads=threads)
        if self.model.config.get("segment"):
            raise PspError(f"{folder}: its text is segmented before sentencepiece, which no library's tokenizer does")
        self.settings = TrainSettings.from_mapping(report["settings"])
        path = pairs_file(folder)
        self.source, self.target = read_pairs(path)
        if len(self.source) != report["store_pairs"]:
            raise DataError(
                f"{len(self.source):,} pairs, but the model was trained on {report['store_pairs']:,}; run the workflow "
                "again",
                path,
            )
        self.heldout = read_pairs(folder / "pairs/heldout.tsv")
        self.tokenizer = export.convert(self.model)
        self._store, self._threads = folder / "store.h5", threads

    def rows(self, start: str) -> np.ndarray:
        """The embeddings to start from, float32 (subwords, dimensions).

        ``random``: N(0, 1), as an ``nn.EmbeddingBag`` starts, and so sentence-transformers. ``psp``: those that the
        model's own training started from, but for zeros in place of the subwords that psp leaves out of the mean (the
        unknown one), as in an export.
        """
        tokenizer = self.model.tokenizer
        if start == "random":
            return normal_table(len(tokenizer.pieces()), self.settings.dim, self.settings.seed).numpy()
        source = open_source(self._store, tokenizer, self.model.config["languages"], threads=self._threads)
        try:
            source.check_vocabulary(tokenizer)
            table, _ = initial_table(tokenizer, self.settings, None, source)
        finally:
            source.close()
        return export.table(StaticModel(table.numpy(), tokenizer, self.model.config))


def pairs_file(folder: Path) -> Path:
    """The training pairs as text, after near-duplicates were removed if the model's config says so.

    Raises:
        DataError: they were not kept.
    """
    for name in ("neardup", "mix"):
        if (path := folder / f"pairs/{name}.tsv").exists():
            return path
    raise DataError(
        "no such file; training pairs are kept as text if the config says `keep_intermediate: true`",
        folder / "pairs/mix.tsv",
    )


def train(
    task: Task, library: str, loss: str, start: np.ndarray, *, rate: float, limit: float, passes: int | None
) -> Trained:
    """Train a library's model.

    Args:
        task: what on.
        library: a key of :data:`MODULES`.
        loss: one of the library's above.
        start: the embeddings to start from; not changed.
        rate: the learning rate.
        limit: in seconds.
        passes: sentence-transformers' over the pairs; None: as many as there is time for. model2vec makes passes until
            it stops by itself.
    """
    import torch

    torch.manual_seed(task.settings.seed)
    if library == SENTENCE_TRANSFORMERS:
        return _sentence_transformers(task, loss, start.copy(), rate, limit, passes)
    return _model2vec(task, loss, start.copy(), rate, limit)


def _sentence_transformers(
    task: Task, loss_name: str, rows: np.ndarray, rate: float, limit: float, passes: int | None
) -> Trained:
    from datasets import Dataset
    from sentence_transformers import (
        SentenceTransformer,
        SentenceTransformerTrainer,
        SentenceTransformerTrainingArguments,
    )
    from sentence_transformers.base.sampler import BatchSamplers
    from sentence_transformers.sentence_transformer import losses
    from sentence_transformers.sentence_transformer.modules import StaticEmbedding
    from torch.optim.lr_scheduler import LambdaLR
    from transformers import PrinterCallback, TrainerCallback

    class Stop(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
            control.should_training_stop |= clock.over

    class WithinTime(SentenceTransformerTrainer):
        """The same linear schedule over the time limit, not the passes, so that the learning rate ends at 0."""

        def create_scheduler(self, num_training_steps: int, optimizer: Any = None) -> LambdaLR:
            def factor(step: int) -> float:
                done = clock.seconds / limit
                return max(0.0, min(done / WARMUP, (1 - done) / (1 - WARMUP)))

            self.lr_scheduler = LambdaLR(optimizer or self.optimizer, factor)
            return self.lr_scheduler

    def count(module: Any, inputs: Any, output: Any) -> None:
        (anchors, _), _ = inputs
        clock.pairs += len(anchors["offsets"])

    # It counts unknown subwords in the mean and trains their row; psp and model2vec leave them out.
    model = SentenceTransformer(modules=[StaticEmbedding(task.tokenizer, embedding_weights=rows)], device="cpu")
    # The mini-batched version, MegaBatchMarginLoss's default, cannot take a StaticEmbedding.
    loss = getattr(losses, loss_name)(model, **({"use_mini_batched_version": False} if loss_name == MARGIN else {}))
    data = Dataset.from_dict({"anchor": task.source, "positive": task.target})
    with tempfile.TemporaryDirectory(prefix="psp-libraries-") as scratch:
        arguments = SentenceTransformerTrainingArguments(
            output_dir=scratch,
            num_train_epochs=passes or 1_000_000,
            per_device_train_batch_size=BATCH,
            learning_rate=rate,
            warmup_steps=WARMUP,
            batch_sampler=BatchSamplers.NO_DUPLICATES,
            seed=task.settings.seed,
            use_cpu=True,
            save_strategy="no",
            logging_strategy="no",
            report_to="none",
            disable_tqdm=True,
        )
        kind = WithinTime if passes is None else SentenceTransformerTrainer
        trainer = kind(model=model, args=arguments, train_dataset=data, loss=loss, callbacks=[Stop()])
        trainer.remove_callback(PrinterCallback)
        loss.register_forward_hook(count)
        clock = Clock(limit)
        trainer.train()
        seconds = clock.seconds

    def encode(texts: Sequence[str]) -> np.ndarray:
        found: np.ndarray = model.encode(texts, batch_size=TEXTS, show_progress_bar=False)
        return found

    return Trained(clock.pairs, seconds, BATCH, seconds >= limit, {"": Embedder(encode)})


class _Over(Exception):
    """The clock is over."""


def _model2vec(task: Task, loss: str, rows: np.ndarray, rate: float, limit: float) -> Trained:
    from model2vec import StaticModel as Model2Vec
    from model2vec.train import StaticModelForPairSimilarity

    class Stoppable(StaticModelForPairSimilarity):
        def forward(self, batch: Any) -> Any:  # its loop takes no callback, but calls this at the start of each step
            if self.training:
                if clock.over:
                    raise _Over
                clock.pairs += len(batch.text_ids) // 2
            return super().forward(batch)

    static = Model2Vec(rows, task.tokenizer, max_length=None)  # the default cuts texts after 512 subwords
    model = Stoppable.from_static_model(model=static, **({"n_layers": 0} if loss == TABLE else {}))
    batch_size = model._determine_batch_size(None, len(task.source))  # 512 from 15,360 pairs on
    clock = Clock(limit)
    try:
        # Early stopping ends it, after 5 validations (of about four in a pass) without a lower loss: then the weights
        # of the best are kept, and otherwise those of the last step.
        model.fit(
            task.source,
            task.target,
            learning_rate=rate,
            text_a_val=task.heldout[0],  # by default, a part of the training pairs
            text_b_val=task.heldout[1],
            random_seed=task.settings.seed,
            device="cpu",
        )
        stopped = False
    except _Over:
        model.eval()
        stopped = True
    seconds = clock.seconds
    static = model.to_static_model()
    models = {"": Embedder(static.encode)}
    if loss == HEAD:  # to_static_model() drops it, as its documentation advises; a pipeline keeps it
        models = {"head dropped": Embedder(static.encode), "head kept": Embedder(model.to_pipeline().predict)}
    return Trained(clock.pairs, seconds, batch_size, stopped, models)
