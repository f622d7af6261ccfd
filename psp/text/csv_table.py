"""Read the CSV files written by training (metrics.csv, timing.csv)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from psp.core.errors import DataError
from psp.text.lines import read_lines

Column = npt.NDArray[np.float64]


def read_table(path: Path, columns: Sequence[str]) -> dict[str, Column]:
    """Read columns of a CSV file written by training.

    Raises:
        DataError: no such file, a missing column, no rows, or a cell that is not a finite number.
    """
    values: dict[str, list[float]] = {name: [] for name in columns}
    try:
        with path.open("rb") as stream:
            lines = (line.split(",") for line in read_lines(stream, path))
            header = next(lines, [])
            if missing := [name for name in columns if name not in header]:
                raise DataError(f"no column {', '.join(missing)}; train again", path, 1)
            for number, cells in enumerate(lines, start=2):
                if len(cells) != len(header):
                    raise DataError(f"{len(cells)} cells, but {len(header)} columns; train again", path, number)
                for name in columns:
                    values[name].append(_number(cells[header.index(name)], name, path, number))
    except FileNotFoundError:
        raise DataError("no such file; train first", path) from None
    if not values[columns[0]]:
        raise DataError("a header without rows; train again", path, 1)
    return {name: np.array(column) for name, column in values.items()}


def _number(cell: str, name: str, path: Path, line: int) -> float:
    try:
        number = float(cell)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise DataError(f"{name} is {cell!r}, not a number; train again", path, line)
    return number
