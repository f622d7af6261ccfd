"""Read pairs from Parquet: a file, a folder of such files, or a folder that the library datasets has saved.

Texts of several lines, which a file of lines cannot hold, become one line.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from psp.core import files
from psp.core.errors import DataError, from_extra
from psp.corpora.rows import Row, row_of

#: Rows read at a time.
BATCH = 1000


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield its rows.

    Raises:
        DataError: a file is missing or damaged, lacks a column, or grows by more than the limits when it is
            unpacked: a text that is stored once may be that of any number of rows.
        PspError: pyarrow is not installed.
    """
    for file in _files(Path(path)):
        for columns in _batches(file, names):
            yield from (row_of(cells, names) for cells in zip(*columns, strict=True))


def count(path: Path, corpus: str, names: tuple[str, ...]) -> tuple[int, bool]:
    return sum(_rows(file) for file in _files(path)), True


def _files(path: Path) -> list[Path]:
    """The files of a table, in the order of their names."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet")) or sorted(path.glob("data-*.arrow"))
    if not files:
        raise DataError("a folder without *.parquet files, and not one that datasets' save_to_disk has written", path)
    return files


@contextlib.contextmanager
def _opened(path: Path, names: tuple[str, ...] = ()) -> Iterator[Any]:
    """pyarrow's reader of a file; its errors, in the block too, are ours.

    A text in the columns ``names`` that the file has once is in memory once, however many rows have it.
    """
    with from_extra("parquet", f"{path}: reading tables needs pyarrow"):
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    try:
        if path.suffix == ".arrow":
            # Not mapped: a file that shrinks meanwhile would kill the process.
            with pyarrow.OSFile(str(path)) as source:
                yield pyarrow.ipc.open_stream(source)
        else:
            with pyarrow.parquet.ParquetFile(path, read_dictionary=list(names)) as file:
                yield file
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())[:200]
        raise DataError(f"cannot be read as a table ({problem}); make it or download it again", path) from None


def _rows(path: Path) -> int:
    with _opened(path) as file:
        return int(file.metadata.num_rows if path.suffix != ".arrow" else sum(len(batch) for batch in file))


def _batches(path: Path, names: tuple[str, ...]) -> Iterator[list[list[Any]]]:
    """The columns of a file, a batch at a time."""
    unpacked = 0
    with _opened(path) as file:
        of_arrow = path.suffix == ".arrow"
        schema = file.schema if of_arrow else file.schema_arrow
        for place, name in enumerate(names):
            _check_field(schema, name, place < 2, path)
        if not of_arrow:  # what it states of itself, before anything is unpacked
            groups = range(file.metadata.num_row_groups)
            _check_size(sum(file.metadata.row_group(group).total_byte_size for group in groups), path)
    with _opened(path, names[:2]) as file:
        tops = list(dict.fromkeys(name if name in schema.names else name.partition(".")[0] for name in names))
        for batch in file if of_arrow else file.iter_batches(BATCH, columns=tops):
            batch.validate(full=True)  # a damaged .arrow has texts that begin outside of it
            columns = []
            for name in names:
                values, size = _values(batch, name, path)
                columns.append(values)
                unpacked += size
            _check_size(unpacked, path)
            yield columns


def _check_size(unpacked: int, path: Path) -> None:
    if problem := files.unpacked_problem(unpacked, path.stat().st_size):
        raise DataError(f"has {problem}; if you trust it, name a TSV of its pairs", path)


def _check_field(schema: Any, name: str, text: bool, path: Path) -> None:
    """Check that a table has a column, once, and that it holds text, or else numbers."""
    import pyarrow

    top, _, below = (name, "", "") if name in schema.names else name.partition(".")
    if schema.names.count(top) > 1:
        raise DataError(f"has {schema.names.count(top)} columns {top}; give each its own name", path)
    found = schema.field(top).type if top in schema.names else None
    if found is not None and below:
        fields = [found.field(number) for number in range(found.num_fields)]
        inside = [field.type for field in fields if field.name == below]
        found = inside[0] if len(inside) == 1 else None
    if found is None:
        raise DataError(f"has no column {name}; it has {', '.join(schema.names)}: name two by `columns`", path)
    if pyarrow.types.is_dictionary(found):
        found = found.value_type
    is_text = pyarrow.types.is_string(found) or pyarrow.types.is_large_string(found)
    if not (is_text if text else is_text or pyarrow.types.is_primitive(found)):
        raise DataError(
            f"its column {name} holds {found}, not {'text' if text else 'numbers'}: name others by `columns`", path
        )


def _values(batch: Any, name: str, path: Path) -> tuple[list[Any], int]:
    """The values of a column, and the bytes of its texts, which rows of a dictionary share."""
    import pyarrow
    import pyarrow.compute  # type: ignore[import-untyped]

    if name in batch.schema.names:
        column = batch.column(name)
    else:
        top, _, below = name.partition(".")
        column = pyarrow.compute.struct_field(batch.column(top), below)
    rows = None
    if pyarrow.types.is_dictionary(column.type):
        column, rows = column.dictionary, column.indices
    size = 0
    if pyarrow.types.is_string(column.type) or pyarrow.types.is_large_string(column.type):
        lengths = pyarrow.compute.binary_length(column)
        if (longest := pyarrow.compute.max(lengths).as_py() or 0) > (most := files.LINE_BYTES):
            raise DataError(
                f"a text of {longest:,} bytes in {name}, more than {most:,}; break it up, or leave it out", path
            )
        size = pyarrow.compute.sum(lengths if rows is None else lengths.take(rows)).as_py() or 0
    values = column.to_pylist()
    return (values if rows is None else [None if row is None else values[row] for row in rows.to_pylist()]), size
