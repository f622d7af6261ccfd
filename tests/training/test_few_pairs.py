"""The study behind ``mix.warn_pairs``: benchmarks/few_pairs.py."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from psp.evaluation.development import Development
from psp.evaluation.testsets import StsSet
from psp.training.settings import TrainSettings
from tests.conftest import PAIRS


@pytest.fixture(scope="module")
def few_pairs() -> ModuleType:
    file = Path(__file__).parents[2] / "benchmarks/few_pairs.py"
    spec = importlib.util.spec_from_file_location("few_pairs", file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_training_stands_beside_sif_weights_on_the_same_pairs(few_pairs: ModuleType, tmp_path: Path) -> None:
    source, target = zip(*dict(PAIRS[:40]).items(), strict=True)
    gold = np.arange(len(source)) % 5.0
    development = Development(StsSet("made", list(source), list(source[::-1]), gold), (list(source), list(target)))
    lines = [f"{source}\t{target}\t3".encode() for source, target in PAIRS]
    settings = TrainSettings(dim=32, batch_size=16, epochs=10, seed=2)
    row = few_pairs.measure("fr", lines, development, tmp_path, ["en", "fr"], settings, 400, 1)
    assert (row.model, row.pairs, row.seed) == ("fr", len(PAIRS), 2)
    assert row.trained[0] < row.sif[0]  # it was trained on what is asked
    assert all(-100 <= pearson <= 100 for _, pearson in (row.trained, row.sif))


def test_the_table_has_means_over_seeds_and_how_often_training_was_better(few_pairs: ModuleType) -> None:
    rows = [
        few_pairs.Row("fr", 500, 1, 400, (40.0, 80.0), (60.0, 79.0), 1.0),
        few_pairs.Row("fr", 500, 2, 410, (44.0, 78.0), (60.0, 79.0), 1.0),
        few_pairs.Row("fr", 50, 1, 100, (70.0, 70.0), (70.0, 79.0), 1.0),
    ]
    *_, small, large = few_pairs.table(rows).splitlines()
    assert small == "| fr | 50 | 100 | 70.0 | 70.0 | 0 of 1 | 70.0 | 79.0 | 0 of 1 |"
    assert large == "| fr | 500 | 405 | 42.0 ± 2.8 | 60.0 ± 0.0 | 2 of 2 | 79.0 ± 1.4 | 79.0 ± 0.0 | 1 of 2 |"
