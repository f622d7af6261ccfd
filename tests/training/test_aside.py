from __future__ import annotations

from pathlib import Path

import pytest
import torch

from psp.errors import DataError
from psp.training.aside import Aside


def test_what_was_put_aside_last_comes_back(tmp_path: Path) -> None:
    aside = Aside(tmp_path)
    assert not aside and aside.tensors() == {}
    first = {"table": torch.randn(5, 3), "count": torch.tensor(7), "none": torch.zeros(0, 4)}
    aside.put(first)
    first["table"].zero_()  # a copy was taken
    second = {"table": torch.randn(5, 3), "count": torch.tensor(8), "none": torch.zeros(0, 4)}
    kept = aside.tensors()
    assert kept["table"].any() and kept["count"] == 7
    aside.put(second)
    for name, weight in aside.tensors().items():
        assert weight.dtype == second[name].dtype
        assert torch.equal(weight, second[name])
    assert list(tmp_path.iterdir()) == []  # no name that a killed process could leave behind


@pytest.mark.parametrize("block", [4, 1 << 22])
def test_a_mean_is_made_of_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int) -> None:
    monkeypatch.setattr("psp.training.aside.BLOCK", block)
    aside, parts = Aside(tmp_path), [{"a": torch.randn(5, 3), "b": torch.randn(7)} for _ in range(3)]
    for weights, share in zip(parts, (0.5, 0.25, 0.25), strict=True):
        aside.add(weights, share)
    for name, mean in aside.tensors().items():
        first, second, third = (weights[name] for weights in parts)
        torch.testing.assert_close(mean, first / 2 + second / 4 + third / 4)
        assert mean.shape == first.shape
    again = Aside(tmp_path)  # goes on from what a checkpoint has kept
    again.put({name: weight.clone() for name, weight in aside.tensors().items()})
    for one in (aside, again):
        one.add(parts[0], 1.0)
    assert all(torch.equal(again.tensors()[name], weight) for name, weight in aside.tensors().items())


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="put aside"):
        Aside(tmp_path / "missing").put({"table": torch.zeros(2, 2)})


def test_a_full_disk_is_told() -> None:
    class Full(Aside):
        def __init__(self) -> None:
            super().__init__()
            self._files["table"] = (Path("/dev/full").open("r+b", buffering=0), torch.float32, torch.Size([4, 4]))  # noqa: SIM115

    with pytest.raises(DataError, match="free space"):
        Full().put({"table": torch.zeros(4, 4)})
    with pytest.raises(DataError, match="free space"):
        Full().add({"table": torch.zeros(4, 4)}, 0.5)
