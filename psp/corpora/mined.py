r"""Read mined pairs: ``source \t target \t shared \t corpora`` lines, as :mod:`psp.pairs.pivot` writes them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from psp.core.errors import DataError
from psp.corpora.rows import Row
from psp.text.lines import read_lines


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield the pairs, without the sentence and the corpora by which they were mined."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            for number, line in enumerate(read_lines(file, path), start=1):
                columns = line.split("\t")
                if len(columns) != 4:
                    raise DataError(
                        f"{len(columns)} columns instead of 4 (source, target, shared, corpora); mine it again",
                        path,
                        number,
                    )
                yield columns[0], columns[1]
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}; mine it again", path) from None
