"""Read pairs from Parquet: a file, a folder of such files, or a folder that the library datasets has saved.

Texts of several lines, which a file of lines cannot hold, become one line.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar

from psp.core.errors import DataError, from_extra
from psp.core.settings import Setting, list_of, text
from psp.corpora import rows
from psp.corpora.base import CorpusKind, register
from psp.corpora.rows import FIRST_ROWS, BadRow, Row

#: Rows read at a time.
BATCH = 10_000
COLUMNS = ("source", "target")


@register
class Parquet(CorpusKind):
    """Columns of a table; ``names`` has those of source, target and, if there is one, score."""

    kind = "parquet"
    endings = ("parquet",)
    item: ClassVar[Mapping[str, Setting]] = {
        "parquet": text(
            at_least=1,
            help="instead of a name or path: a Parquet file, a folder of them, or one written by datasets' "
            "`save_to_disk`",
        ),
        "columns": list_of(
            items={"type": "string", "minLength": 1},
            at_least=2,
            at_most=3,
            distinct=True,
            help="for a Parquet file: the columns of source, target and, if there is one, score; [translation.en, "
            "translation.fr] names fields of a column (default: source, target)",
        ),
    }
    called = "a table, `parquet`"

    @classmethod
    def names(cls, item: Mapping[str, Any], names: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(item.get("columns", COLUMNS))

    @classmethod
    def read(cls, path: Path | str, corpus: str, names: tuple[str, ...], max_bad_rows: float) -> Iterator[Row]:
        bad = seen = 0
        for file in _files(Path(path)):
            for columns in _batches(file, names):
                for cells in zip(*columns, strict=True):
                    seen += 1
                    row = _row(cells)
                    if isinstance(row, BadRow):
                        bad += 1
                        if bad > max_bad_rows * max(seen, FIRST_ROWS):
                            raise DataError(
                                f"{bad:,} of the first {seen:,} rows have no text in {names[0]} and {names[1]}, or no "
                                "number as their score; name other `columns`, or raise filters.max_bad_rows",
                                path,
                            )
                    yield row

    @classmethod
    def count(cls, path: Path, corpus: str, names: tuple[str, ...]) -> tuple[int, bool]:
        return sum(_rows(file) for file in _files(path)), True


def _row(cells: tuple[Any, ...]) -> Row:
    source, target, *scores = cells
    if not (isinstance(source, str) and isinstance(target, str)):
        return BadRow(rows.COLUMNS, str(cells)[:100])
    sides = tuple(" ".join(side.split()) if not side.isprintable() else side for side in (source, target))
    if not scores:
        return sides[0], sides[1]
    score = scores[0]
    if isinstance(score, bool) or not isinstance(score, int | float) or not math.isfinite(score):
        return BadRow(rows.SCORE, str(cells)[:100])
    return sides[0], sides[1], float(score)


def _files(path: Path) -> list[Path]:
    """The files of a table, in the order of their names."""
    if not path.is_dir():
        return [path]
    files = sorted(path.glob("*.parquet")) or sorted(path.glob("data-*.arrow"))
    if not files:
        raise DataError("a folder without *.parquet files, and not one that datasets' save_to_disk has written", path)
    return files


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """pyarrow's reader of a file; its errors, in the block too, are ours."""
    with from_extra("parquet", f"{path}: reading tables needs pyarrow"):
        import pyarrow  # type: ignore[import-untyped]
        import pyarrow.parquet  # type: ignore[import-untyped]
    try:
        if path.suffix == ".arrow":
            # Not mapped: a file that shrinks meanwhile would kill the process.
            with pyarrow.OSFile(str(path)) as source:
                yield pyarrow.ipc.open_stream(source)
        else:
            with pyarrow.parquet.ParquetFile(path) as file:
                yield file
    except (pyarrow.ArrowException, OSError, UnicodeDecodeError) as error:
        problem = " ".join(str(error).split())[:200]
        raise DataError(f"cannot be read as a table ({problem}); make it or download it again", path) from None


def _rows(path: Path) -> int:
    with _opened(path) as file:
        return int(file.metadata.num_rows if path.suffix != ".arrow" else sum(len(batch) for batch in file))


def _batches(path: Path, names: tuple[str, ...]) -> Iterator[list[list[Any]]]:
    """The columns of a file, a batch at a time."""
    with _opened(path) as file:
        schema = file.schema if path.suffix == ".arrow" else file.schema_arrow
        for name in names:
            _field(schema, name, path)
        tops = list(dict.fromkeys(name.partition(".")[0] if name not in schema.names else name for name in names))
        batches = file if path.suffix == ".arrow" else file.iter_batches(BATCH, columns=tops)
        for batch in batches:
            batch.validate(full=True)  # a damaged .arrow has texts that begin outside of it
            yield [_column(batch, name) for name in names]


def _field(schema: Any, name: str, path: Path) -> None:
    top, _, below = name.partition(".")
    inside = schema.field(top).type if top in schema.names and name not in schema.names else None
    fields = [] if inside is None else [inside.field(number).name for number in range(inside.num_fields)]
    if name not in schema.names and below not in fields:
        raise DataError(f"has no column {name}; it has {', '.join(schema.names)}: name two by `columns`", path)


def _column(batch: Any, name: str) -> list[Any]:
    if name in batch.schema.names:
        values: list[Any] = batch.column(name).to_pylist()
        return values
    top, _, below = name.partition(".")
    return [None if one is None else one.get(below) for one in batch.column(top).to_pylist()]
