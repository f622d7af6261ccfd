"""A transformer trained in two processes, which torchrun starts: the same model, and one set of files."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path
from typing import Any

import pytest

from psp.core.errors import ConfigError
from psp.evaluation.development import DevelopmentFiles
from psp.training.process_group import ProcessGroup
from psp.training.transformer import TransformerTraining
from psp.training.transformer.settings import check_shared
from tests.training.transformer.conftest import PAIRS, SETTINGS, read_json, train, write_pairs


@pytest.fixture(scope="module")
def exact(base: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny base without dropout, which each process draws for itself."""
    folder = tmp_path_factory.mktemp("exact") / "base"
    folder.mkdir()
    for path in base.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    config = read_json(folder / "config.json") | {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    (folder / "config.json").write_text(json.dumps(config))
    return folder


def training(folder: Path, base: Path, processes: int, pairs: int = 240, **settings: Any) -> TransformerTraining:
    folder.mkdir(parents=True, exist_ok=True)
    return TransformerTraining(
        write_pairs(folder / "pairs.tsv", PAIRS[:pairs]),
        str(base),
        folder / "model",
        folder / "train",
        {**SETTINGS, "epochs": 2, **settings},
        DevelopmentFiles(heldout=write_pairs(folder / "heldout.tsv", PAIRS[240:], mixed=True)),
        threads=processes,
        model_config={"languages": ["aa", "bb"], "recipe": "psp"},
        identity={"code": "1"},
        processes=processes,
    )


def test_fewer_pairs_than_a_mini_batch_are_told(base: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Pretended:
        rank, size = 0, 2

        def first(self, flag: bool) -> bool:
            return flag

    monkeypatch.setattr(ProcessGroup, "wanted", lambda: True)
    monkeypatch.setattr(ProcessGroup, "joined", lambda device, patience: contextlib.nullcontext(Pretended()))
    with pytest.raises(ConfigError, match="16, but there are 9 pairs; several processes need at least one full"):
        train(tmp_path, base, pairs=PAIRS[:9])
    assert not (tmp_path / "model").exists()


def test_a_mini_batch_must_be_divisible_and_a_teacher_is_for_one_process() -> None:
    check_shared(16, 4, False, "transformer")
    check_shared(15, 1, True, "transformer")
    with pytest.raises(ConfigError, match=r"transformer\.batch_size: 15 pairs cannot be shared by 2 processes"):
        check_shared(15, 2, False, "transformer")
    with pytest.raises(ConfigError, match="learning from a teacher is for one process"):
        check_shared(16, 2, True, "transformer")
