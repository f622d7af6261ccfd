from __future__ import annotations

from pathlib import Path

import pytest
import torch

from psp.core.errors import DataError
from psp.training.saving.weights import WeightSnapshot


def test_the_last_snapshot_comes_back(tmp_path: Path) -> None:
    snapshot = WeightSnapshot(tmp_path)
    assert not snapshot and snapshot.tensors() == {}
    first = {"table": torch.randn(5, 3), "count": torch.tensor(7), "none": torch.zeros(0, 4)}
    snapshot.put(first)
    first["table"].zero_()  # a copy was taken
    second = {"table": torch.randn(5, 3), "count": torch.tensor(8), "none": torch.zeros(0, 4)}
    kept = snapshot.tensors()
    assert kept["table"].any() and kept["count"] == 7
    snapshot.put(second)
    for name, weight in snapshot.tensors().items():
        assert weight.dtype == second[name].dtype
        assert torch.equal(weight, second[name])
    assert list(tmp_path.iterdir()) == []  # no name that a killed process could leave behind


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="snapshot of the weights cannot be written"):
        WeightSnapshot(tmp_path / "missing").put({"table": torch.zeros(2, 2)})


def test_a_full_disk_is_told() -> None:
    class Full(WeightSnapshot):
        def __init__(self) -> None:
            super().__init__()
            self._files["table"] = (Path("/dev/full").open("r+b", buffering=0), torch.float32, torch.Size([4, 4]))  # noqa: SIM115

    with pytest.raises(DataError, match="free space"):
        Full().put({"table": torch.zeros(4, 4)})
