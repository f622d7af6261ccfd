"""Settings of a transformer that several processes cannot share."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest

from psp.core.errors import ConfigError
from psp.training.process_group import ProcessGroup
from psp.training.transformer.settings import check_shared
from tests.training.transformer.conftest import PAIRS, train


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
