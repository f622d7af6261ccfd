"""What is said about the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from psp.core import machine


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("processor\t: 0\nflags\t\t: fpu avx512f avx512_bf16 la57\n", True),
        ("processor\t: 0\nflags\t\t: fpu amx_bf16 amx_tile\n", True),
        ("processor\t: 0\nFeatures\t: fp asimd i8mm bf16 dgh\n", True),
        ("model name\t: of bf16\nflags\t\t: fpu avx512f f16c\n", False),
        ("processor\t: 0\n", None),
        (None, None),
    ],
)
def test_whether_the_processor_multiplies_bfloat16(content, said, tmp_path: Path, monkeypatch) -> None:
    path = tmp_path / "cpuinfo"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setattr(machine, "Path", lambda name: path if name == "/proc/cpuinfo" else Path(name))
    assert machine.multiplies_bfloat16() is said
