r"""Read mined pairs: ``source \t target \t shared \t corpora`` lines, as :mod:`psp.pairs.pivot` writes them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from psp.core.errors import DataError
from psp.corpora.base import CorpusKind, register
from psp.corpora.rows import Row
from psp.text.lines import read_lines

#: Pairs of its report that data.json shows.
SAMPLES = 5


@register
class Mined(CorpusKind):
    """The output of :mod:`psp.pairs.pivot`."""

    kind = "mined"
    without_scores = "mined pairs"
    made_by = "pivot"
    makes = ("mined", "pivoted")

    @classmethod
    def read(cls, path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
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

    @classmethod
    def told(cls, report: Mapping[str, Any]) -> tuple[int, dict[str, Any]]:
        kept = {key: value for key, value in report.items() if key not in ("format", "languages", "sample")}
        return report["pairs"], {**kept, "sample": report["sample"][:SAMPLES]}
