"""Files as people and publishers pack them."""

from __future__ import annotations

import bz2
import gzip
import lzma
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest


def zipped(path: Path, members: Mapping[str, bytes], compression: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(zipfile.ZipInfo(name), data, compression)
    return path


def packed(path: Path, data: bytes) -> Path:
    """Write a file as its ending says."""
    suffix = path.suffix.lower()
    if suffix == ".zip":
        return zipped(path, {"folder/pairs.tsv": data, "README.txt": b"about"})
    if suffix == ".zst":
        zstandard = pytest.importorskip("zstandard", reason="it is not installed (pip install 'paraphrastic[data]')")
        half = len(data) // 2
        # Two frames, as `cat a.zst b.zst` makes them.
        data = b"".join(zstandard.ZstdCompressor().compress(part) for part in (data[:half], data[half:]))
    elif suffix == ".gz":
        data = gzip.compress(data, mtime=0)
    elif suffix in (".bz2", ".xz"):
        data = {".bz2": bz2, ".xz": lzma}[suffix].compress(data)
    path.write_bytes(data)
    return path
