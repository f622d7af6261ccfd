"""Files of vectors, read by their own libraries."""

from __future__ import annotations

import io
import os
import sys

import numpy as np
import pytest

from psp.core.errors import ConfigError, DataError, PspError
from psp.inference import vectorfile
from psp.inference.vectorfile import settings, vector_file, write_npy_header

DIM = 3


def vectors(rows: int, dtype: str = "float32") -> np.ndarray:
    return np.random.default_rng(rows).standard_normal((rows, DIM)).astype(dtype)


def write(path, form, parts, dtype="float32"):
    with vector_file(str(path), form, DIM, dtype) as writer:
        for number, part in enumerate(parts):
            text = "\n".join(f"é {number} {row}" for row in range(len(part))).encode()
            writer.write(memoryview(part).cast("B"), text)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("rows", [[], [1], [4, 1, 7]])
def test_npy_is_what_numpy_writes(tmp_path, rows, dtype):
    parts = [vectors(count, dtype) for count in rows]
    together = np.concatenate([np.empty((0, DIM), dtype), *parts])
    write(tmp_path / "x.npy", "npy", parts, dtype)
    for mode in (None, "r"):
        if rows or mode is None:
            loaded = np.load(tmp_path / "x.npy", mmap_mode=mode)
            assert loaded.dtype == dtype and np.array_equal(loaded, together)
    expected = io.BytesIO()
    np.save(expected, together)
    assert (tmp_path / "x.npy").read_bytes() == expected.getvalue()


@pytest.mark.parametrize("rows", [0, 1, 10**7, 10**15])
def test_the_header_always_has_its_reserved_length(rows):
    file = io.BytesIO()
    write_npy_header(file, (rows, 1024), "float16")
    assert len(file.getvalue()) == 128
    file.seek(0)
    assert np.lib.format.read_magic(file) == (1, 0)
    assert np.lib.format.read_array_header_1_0(file) == ((rows, 1024), False, np.dtype("<f2"))


@pytest.mark.parametrize("form", ["npy", "parquet"])
def test_half_a_file_is_none(tmp_path, form):
    read = np.load if form == "npy" else pytest.importorskip("pyarrow.parquet").read_table
    text = "\n".join(map(str, range(9000))).encode()
    with pytest.raises(RuntimeError), vector_file(str(tmp_path / "x"), form, DIM, "float32") as writer:
        writer.write(memoryview(vectors(9000)).cast("B"), text)
        if form == "parquet":
            writer.flush()
        (half,) = tmp_path.iterdir()
        assert half.stat().st_size > 80_000
        for options in ({}, {"mmap_mode": "r"} if form == "npy" else {"memory_map": True}):
            with pytest.raises(ValueError):  # what a killed process leaves does not load either
                read(half, **options)
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_raw_is_the_numbers_alone(tmp_path, dtype):
    parts = [vectors(count, dtype) for count in (2, 5)]
    write(tmp_path / "made/x.raw", "raw", parts, dtype)
    assert np.array_equal(np.fromfile(tmp_path / "made/x.raw", dtype).reshape(-1, DIM), np.concatenate(parts))


@pytest.mark.parametrize("form", ["npy", "raw", "parquet"])
def test_a_large_file_is_let_go_of_on_the_way(tmp_path, form, monkeypatch):
    if form == "parquet":
        pytest.importorskip("pyarrow")
        monkeypatch.setattr(vectorfile, "_GROUP_BYTES", 10_000)
    parts = [vectors(1000 + number) for number in range(20)]
    write(tmp_path / "kept", form, parts)
    told = []
    monkeypatch.setattr(vectorfile, "_CACHE_BYTES", 4096)
    monkeypatch.setattr(os, "posix_fadvise", lambda number, *what: told.append(what), raising=False)
    monkeypatch.setattr(os, "POSIX_FADV_DONTNEED", 4, raising=False)
    write(tmp_path / "told", form, parts)
    monkeypatch.undo()
    assert {start for start, _, _ in told} == set(range(0, max(told)[0] + 1, 4096))  # no part is left out
    assert all(size == 4096 for _, size, _ in told)
    assert (tmp_path / "told").stat().st_size - 3 * 4096 < max(told)[0]
    monkeypatch.setattr(vectorfile, "_CACHE_BYTES", 4096)
    if form == "parquet":
        monkeypatch.setattr(vectorfile, "_GROUP_BYTES", 10_000)
    write(tmp_path / "let go", form, parts)  # by the system
    assert (tmp_path / "let go").read_bytes() == (tmp_path / "kept").read_bytes()


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_parquet_has_texts_and_vectors_in_row_groups(tmp_path, dtype, monkeypatch):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(vectorfile, "_GROUP_BYTES", 100)
    parts = [vectors(count, dtype) for count in (2, 9, 1, 1, 20, 1)]
    write(tmp_path / "x.parquet", "parquet", parts, dtype)
    file = parquet.ParquetFile(tmp_path / "x.parquet")
    groups = [file.metadata.row_group(group).num_rows for group in range(file.metadata.num_row_groups)]
    assert groups == [11, 22, 1]  # a group is some hundred bytes here, and not a chunk
    table = file.read()
    assert str(table.schema.field("text").type) == "string"
    kind = table.schema.field("vector").type
    assert kind.list_size == DIM and kind.value_type.to_pandas_dtype() == np.dtype(dtype).type
    numbers = table["vector"].combine_chunks().flatten().to_numpy(zero_copy_only=False).reshape(-1, DIM)
    assert numbers.dtype == dtype and np.array_equal(numbers, np.concatenate(parts))
    assert table["text"].to_pylist() == [f"é {n} {row}" for n, part in enumerate(parts) for row in range(len(part))]
    write(tmp_path / "none.parquet", "parquet", [], dtype)
    assert parquet.read_table(tmp_path / "none.parquet").schema == table.schema


def test_parquet_without_pyarrow(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        pytest.raises(PspError, match=r"pip install 'paraphrastic\[parquet\]'"),
        vector_file(str(tmp_path / "made/x.parquet"), "parquet", DIM, "float32"),
    ):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("out", "form", "dtype", "expected"),
    [
        ("x.npy", None, None, ("npy", "float32")),
        ("x.NPY", None, "float16", ("npy", "float16")),
        ("x.parquet", "parquet", None, ("parquet", "float32")),
        ("x.f16", None, None, ("raw", "float16")),
        ("x.f32", "raw", "float32", ("raw", "float32")),
        ("x.bin", "raw", "float16", ("raw", "float16")),
        ("x.bin", "npy", None, ("npy", "float32")),
        ("-", None, "float16", ("raw", "float16")),
    ],
)
def test_names_tell_the_format(out, form, dtype, expected):
    assert settings(out, form, dtype) == expected


@pytest.mark.parametrize(
    ("out", "form", "dtype", "said"),
    [
        ("x.bin", None, None, "--out x.bin: unknown format; end the name in .npy"),
        ("x.npy", "raw", None, "--format raw: the name x.npy implies npy"),
        ("-", "npy", None, "--format npy: standard output implies raw"),
        ("x.f16", None, "float32", "--dtype float32: the name x.f16 implies float16"),
    ],
)
def test_names_that_contradict_what_is_asked(out, form, dtype, said):
    with pytest.raises(ConfigError, match=said):
        settings(out, form, dtype)


def test_places_that_are_no_files(tmp_path):
    with pytest.raises(ConfigError, match="is a folder"), vector_file(str(tmp_path), "npy", DIM, "float32"):
        pass
    with pytest.raises(ConfigError, match="use --format raw"), vector_file("/dev/null", "npy", DIM, "float32"):
        pass
    write("/dev/null", "raw", [vectors(3)])  # and it is still a device
    with pytest.raises(DataError, match="/dev/full: cannot be written: No space left"):
        write("/dev/full", "raw", [vectors(3)])
