"""Readers of files from others, each with a hundred changed files; `make fuzz` reads many more."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from psp.core.errors import PspError
from tests.fuzz.mutate import mutate
from tests.fuzz.readers import READERS

#: Slow ones get fewer.
INPUTS = {"config": 30, "model": 40, "model_int8": 30, "published": 60, "sentencepiece_model": 40}


@pytest.mark.parametrize("name", READERS)
def test_what_is_damaged_is_read_or_refused_in_one_line(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psp.core.files.LINE_BYTES", 1024)  # of a length that changes make
    if name == "zstandard_file":
        pytest.importorskip("zstandard")
    if name in ("table", "arrow"):
        pytest.importorskip("pyarrow")
    if name == "index":
        pytest.importorskip("faiss")
    made = READERS[name](tmp_path)
    made.read()
    whole = {target.path: target.path.read_bytes() for target in made.targets}
    refused = 0
    for number in range(INPUTS.get(name, 100)):
        rng = Random(f"7 {name} {number}")
        target = rng.choice(made.targets)
        target.path.write_bytes(target.change(whole[target.path], rng, list(whole.values())))
        if target.then is not None:
            target.then()
        try:
            made.read()
        except PspError as error:
            refused += 1
            assert "\n" not in str(error)
        for path, content in whole.items():
            path.write_bytes(content)
    made.read()
    assert refused or name == "task_polarity"


def test_changes_are_the_same_for_a_seed_and_mostly_differ() -> None:
    data = bytes(range(200))
    found = [mutate(data, Random(seed), [b"another"]) for seed in range(200)]
    assert found == [mutate(data, Random(seed), [b"another"]) for seed in range(200)]
    assert len(set(found)) > 150 and all(mutate(b"", Random(seed)) is not None for seed in range(50))
