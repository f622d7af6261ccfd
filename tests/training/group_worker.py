"""What each process of the tests of a group does: trainings of a small made-up corpus, their results into a folder.

    torchrun ... group_worker.py FOLDER SCENARIO ...

The tests import it for the one process that several are compared with.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import torch

from psp.pairs.encoded_pairs import Pairs
from psp.training import trainer as trainer_module
from psp.training.encoders.mean import mean_encoder, normal_table
from psp.training.negatives.mining import Negatives, mine_by_kind
from psp.training.optimiser import DenseAdam
from psp.training.process_group import ALONE, ProcessGroup
from psp.training.saving.csv_log import MetricsLog
from psp.training.settings import PAPER, TrainSettings
from psp.training.torch_state import torch_state
from psp.training.trainer import Trainer
from tests.training.conftest import CONCEPTS, ListSource, Weighted, translated
from tests.training.pairwise_sigmoid import registered

SMALL: dict[str, Any] = {
    **PAPER, "directions": "both",
    "epochs": 2, "batch_size": 32, "megabatch": 4, "anneal": 5, "dim": 16, "learning_rate": 0.01, "log_every": 1,
}  # fmt: skip
#: 3 x 7 + 1 pairs in mini-batches of 7: the last has one pair, fewer than there are processes.
ODD = {"batch_size": 7, "megabatch": 3, "anneal": 1}
SCENARIOS: dict[str, dict[str, Any]] = {
    "plain": {"negatives": "opposite"},
    "dropout": {"dropout": 0.3},
    "clip": {"clip": 0.2, "dropout": 0.1},
    "source": {"directions": "source"},
    "any": {"negatives": "any"},
    "random": {"negatives": "random"},
    "odd": {**ODD, "dropout": 0.2},
    "as on a GPU": {**ODD, "dropout": 0.2, "precision": "mixed"},  # but for the GPU, and NCCL
    "dense gradients": {"clip": 0.2},  # another encoder, of two parameters
    # A scale at which the loss is about 1, as the margin loss is: it is written with 6 digits.
    "infonce": {"objective": "infonce", "scale": 1.0, "token_dropout": 0.2},
    "infonce, mined": {**ODD, "objective": "infonce", "scale": 1.0, "candidates": "mined", "dropout": 0.2},
    "sigmoid": {"objective": "sigmoid", "clip": 0.5},  # parameters of the objective's own, without a dimension
    "averaged": {"average": 3, "average_part": 0.5, "dropout": 0.1},
    "own share": {"negatives": "opposite"},  # see mine_own_share
}


def mine_own_share(
    pairs: Pairs, source: torch.Tensor, target: torch.Tensor, group: ProcessGroup, **how: Any
) -> Negatives:
    """A wrong build: each process looks for negatives among its own share of the mega-batch alone."""
    share = group.share(len(pairs))
    rows, first = np.arange(share.start, share.stop), share.start
    found = mine_by_kind(pairs.take(rows), source[share], target[share], **how)
    sides = []
    for side in (found.source, found.target):
        of_all = np.where(side < 0, -1, side + first + np.where(side >= len(rows), len(pairs) - len(rows), 0))
        sides.append(np.concatenate(group.gather(of_all)))
    return Negatives(*sides)


def mixed_kinds(count: int) -> ListSource:
    """Bitext, and every third pair a paraphrase, of other words in part: equal vectors would be ties."""
    pairs = translated(count, 1)
    kinds = [i % 3 == 0 for i in range(count)]
    sides = zip(pairs.source, pairs.target, kinds, strict=True)
    target = [[*source[1:], (source[0] + 1) % CONCEPTS] if kind else other for source, other, kind in sides]
    return ListSource(pairs.source, target, kinds)


def run(folder: Path, name: str, group: ProcessGroup = ALONE) -> None:
    with registered():
        _run(folder, name, TrainSettings(**{**SMALL, **SCENARIOS[name]}), group)


def _run(folder: Path, name: str, settings: TrainSettings, group: ProcessGroup) -> None:
    pairs = mixed_kinds(22 * 6) if settings.batch_size == 7 else translated(400, 1)
    rank = group.rank
    mined: list[np.ndarray] = []
    search = mine_own_share if name == "own share" else mine_by_kind

    def watched(*positional: Any, **named: Any) -> Negatives:
        found = search(*positional, **named)
        mined.extend([found.source, found.target])
        return found

    out = folder / name / str(rank)
    with (
        torch_state(1),
        MetricsLog(out, settings.log_every) as records,
        mock.patch.object(trainer_module, "mine_by_kind", watched),
        # Of bfloat16, products of a share would round otherwise than those of the whole.
        mock.patch("psp.training.losses.infonce.reduced_precision", lambda device: False),
    ):
        encoder: Any
        encoder, optimiser = mean_encoder(normal_table(2 * CONCEPTS, settings.dim, settings.seed), settings.as_dict())
        if name == "as on a GPU":
            encoder._compiled = False
            optimiser = DenseAdam(encoder.parameters(), lr=settings.learning_rate)
        if name == "dense gradients":
            encoder = Weighted(2 * CONCEPTS, settings.dim)
            optimiser = DenseAdam(encoder.parameters(), lr=settings.learning_rate)
        trainer = Trainer(pairs, encoder, optimiser, settings, None, records, group=group)
        weights = {**trainer.run(), **trainer._objective.state_dict()}
    table = np.concatenate([weight.numpy().ravel() for weight in weights.values()])
    np.savez(out / "result.npz", table=table, mined=np.concatenate(mined or [np.zeros(0)]))


def main() -> None:
    folder, names = Path(sys.argv[1]), sys.argv[2:]
    with ProcessGroup.joined(torch.device("cpu")) as group:
        for name in names:
            run(folder, name, group)


if __name__ == "__main__":
    main()
