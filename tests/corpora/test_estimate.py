"""How many lines a file has, without reading all of it."""

import random
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from psp.core.errors import DataError
from psp.corpora import estimate
from psp.corpora.estimate import count_lines
from tests.corpora.conftest import packed

pytest.importorskip("zstandard")


ENDINGS = (".tsv", ".gz", ".zst", ".zip")


@given(text=st.binary(max_size=300), ending=st.sampled_from(ENDINGS))
def test_a_small_file_is_counted(tmp_path_factory: pytest.TempPathFactory, text: bytes, ending: str) -> None:
    path = packed(tmp_path_factory.getbasetemp() / f"small{ending}", text)
    expected = text.count(b"\n") + (bool(text) and not text.endswith(b"\n"))
    assert count_lines(path) == (expected, True)


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_large_file_is_estimated(tmp_path: Path, ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(estimate, "SAMPLE", 1 << 18)
    random.seed(1)
    # Lines of a plain file grow, as those of a corpus of several sources may: its sample is from all of it.
    growth = 1 if ending == ".tsv" else 0
    lines = [f"{random.random()}" * (1 + random.randrange(5) + growth * i // 10_000) for i in range(50_000)]
    path = packed(tmp_path / f"large{ending}", "".join(f"{line}\n" for line in lines).encode())
    found, exact = count_lines(path)
    assert not exact
    assert found == pytest.approx(50_000, rel=0.15)


def test_a_member_is_counted_by_name_and_damage_is_told(tmp_path: Path) -> None:
    path = packed(tmp_path / "a.zip", b"1\n2\n")
    assert count_lines(path, "README.txt") == (1, True)
    with pytest.raises(DataError, match=r"a\.zip: no member A\.en-fr\.en"):
        count_lines(path, "A.en-fr.en")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(DataError, match="not a valid zip"):
        count_lines(path)
    with pytest.raises(DataError, match="cannot be read"):
        count_lines(tmp_path / "nowhere.tsv")
