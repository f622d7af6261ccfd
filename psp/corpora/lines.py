r"""Read two files of lines, where line n of one is the translation of line n of the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import IO

from psp.core.errors import DataError
from psp.corpora.archive import open_text
from psp.corpora.rows import Row, undecodable
from psp.text.lines import decoded_lines


def aligned(streams: Sequence[IO[bytes]], names: Sequence[str], path: Path, advice: str) -> Iterator[Row]:
    """Yield the pairs of two streams of lines, without byte order marks; a bad row where a side is not UTF-8.

    Args:
        names: of the streams, for errors.
        path: the file, for errors.
        advice: what to do where they are not of one length.

    Raises:
        DataError: they are not; it comes after the pairs.
    """
    sides = [decoded_lines(stream, f"{path} ({name})") for stream, name in zip(streams, names, strict=True)]
    for before, (source, target) in enumerate(zip_longest(*sides)):
        if source is None or target is None:
            counts = [before, before]
            counts[0 if target is None else 1] += 1 + sum(1 for _ in sides[0 if target is None else 1])
            raise DataError(
                f"the sides are not aligned: {names[0]} has {counts[0]:,} lines, {names[1]} has {counts[1]:,}; "
                f"{advice}",
                path,
            )
        if isinstance(source, bytes):
            yield undecodable(source, f"{names[0]}: ")
        elif isinstance(target, bytes):
            yield undecodable(target, f"{names[1]}: ")
        else:
            yield source, target


def read(path: Path | str, corpus: str, names: tuple[str, ...]) -> Iterator[Row]:
    """Yield the pairs; ``names`` are the two files.

    Raises:
        DataError: a file is missing or damaged, or they have different numbers of lines.
        PspError: the package for .zst is not installed.
    """
    with contextlib.ExitStack() as stack:
        streams = [stack.enter_context(open_text(Path(name))) for name in names]
        yield from aligned(streams, names, Path(path), "line n of one must be the translation of line n of the other")
