"""Training a model: a store and a sentencepiece model in, a model folder and its metrics out."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from psp.errors import ConfigError
from psp.evaluation.scorers import EmbeddingScorer, Scorer
from psp.files import write_json
from psp.model import Model, save_model
from psp.store import Store
from psp.subword import load_sentencepiece
from psp.training.initial import initial_table, vocabulary
from psp.training.records import Records
from psp.training.settings import TrainSettings
from psp.training.trainer import Evaluate, Trainer, torch_state

log = logging.getLogger(__name__)


class DevelopmentSet(Protocol):
    """What models are chosen by; :class:`psp.evaluation.development.Development` is one."""

    def score(self, scorer: Scorer, heldout_scorer: Scorer | None = None) -> Mapping[str, Any]:
        """A mapping with ``score``, larger is better; ``heldout_scorer`` is for text that is already segmented."""
        ...


def train(
    store: Path,
    sentencepiece_model: Path,
    out_dir: Path | None,
    train_dir: Path,
    settings: TrainSettings | Mapping[str, Any],
    development: DevelopmentSet | None,
    *,
    threads: int,
    model_config: Mapping[str, Any],
    init_from: Path | None = None,
) -> dict[str, Any]:
    """Train a model and write it.

    Args:
        store: the pairs, encoded with ``sentencepiece_model``.
        sentencepiece_model: becomes part of the model folder.
        out_dir: the model folder: weights, sentencepiece model and config.json; None = only the scores are wanted.
        train_dir: metrics.csv and dev.csv (rows as training goes on), timing.csv, and in the end train.json.
        settings: see :class:`TrainSettings`.
        development: development data, for the choice between the tables along the way; None keeps the last one.
        threads: for torch. The same number gives the same bytes.
        model_config: goes into config.json (languages, lower_case, segmenter...).
        init_from: a model folder to take over rows from, for the pieces that both vocabularies have.

    Returns:
        What train.json holds.

    Raises:
        DataError: the store is missing or damaged, or was encoded with another sentencepiece model.
        ConfigError: a setting is not allowed, or asks for a device that is not there.
        PspError: training diverged.
    """
    settings = settings if isinstance(settings, TrainSettings) else TrainSettings.from_mapping(settings)
    if threads < 1:
        raise ConfigError(f"threads: {threads} is not allowed; at least 1")
    device = choose_device(settings.device)
    with torch_state(threads), Store(store) as pairs:
        pieces = vocabulary(load_sentencepiece(sentencepiece_model))
        pairs.check_vocabulary(sentencepiece_model)
        table, taken_over = initial_table(pieces, settings, init_from)
        table = table.to(device)
        log.info("training on %s: %d pairs, %d pieces x %d", device, len(pairs), *table.shape)
        evaluate = None if development is None else _evaluation(development, sentencepiece_model, model_config)
        with Records(train_dir, settings.log_every) as records:
            trainer = Trainer(pairs, table, settings, evaluate, records)
            kept = trainer.run()
        report = {
            "format": 1,
            "settings": settings.as_dict(),
            "device": device.type,
            "threads": threads,
            "vocabulary": len(pieces),
            "store_pairs": len(pairs),
            "steps": trainer.step,
            "pairs_seen": trainer.pairs,
            "epochs": settings.epochs,
            "passed_over": trainer.alone,
            "without_negative": trainer.lonely,
            "initialised_from": taken_over,
            "best": trainer.best,
            "development": records.history,
        }
        if out_dir is not None:
            save_model(out_dir, _array(kept), sentencepiece_model, dict(model_config))
    write_json(train_dir / "train.json", report)
    return report


def choose_device(name: str) -> torch.device:
    """The device that a setting means: ``auto`` is the GPU where torch sees one, else the CPU.

    Raises:
        ConfigError: a GPU is asked for that torch does not see.
    """
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device = torch.device(name)
    if device.type == "cuda" and (device.index or 0) >= torch.cuda.device_count():
        raise ConfigError(
            f"train.device: {name!r}, but torch {torch.__version__} sees {torch.cuda.device_count()} GPUs. "
            "Write `device: auto`"
        )
    return device


def _evaluation(development: DevelopmentSet, sentencepiece_model: Path, config: Mapping[str, Any]) -> Evaluate:
    # The held-out slice is text that was prepared for training: it must not be segmented a second time.
    prepared = {**config, "segment": {}}

    def evaluate(table: Tensor) -> Mapping[str, Any]:
        weight = _array(table)
        scorer, heldout_scorer = (
            EmbeddingScorer(Model(weight, sentencepiece_model, keys)) for keys in (config, prepared)
        )
        return development.score(scorer, heldout_scorer)

    return evaluate


def _array(table: Tensor) -> np.ndarray:
    """The table as numpy sees it: on a CPU the same memory, not a copy."""
    return table.detach().cpu().numpy()
