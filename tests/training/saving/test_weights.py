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


@pytest.mark.parametrize("block", [4, 1 << 22])
def test_a_mean_is_made_of_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("psp.training.saving.weights.BLOCK", block)
    snapshot, parts = WeightSnapshot(tmp_path), [{"a": torch.randn(5, 3), "b": torch.randn(7)} for _ in range(3)]
    for weights, share in zip(parts, (0.5, 0.25, 0.25), strict=True):
        snapshot.add(weights, share)
    for name, mean in snapshot.tensors().items():
        first, second, third = (weights[name] for weights in parts)
        torch.testing.assert_close(mean, first / 2 + second / 4 + third / 4)
        assert mean.shape == first.shape
    again = WeightSnapshot(tmp_path)  # goes on from what a checkpoint has kept
    again.put({name: weight.clone() for name, weight in snapshot.tensors().items()})
    for one in (snapshot, again):
        one.add(parts[0], 1.0)
    assert all(torch.equal(again.tensors()[name], weight) for name, weight in snapshot.tensors().items())


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
    with pytest.raises(DataError, match="free space"):
        Full().add({"table": torch.zeros(4, 4)}, 0.5)
