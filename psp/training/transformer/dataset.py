"""A pair file as a dataset of the library ``datasets``: memory-mapped, so that it takes no memory."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow  # type: ignore[import-untyped]

from psp.core.errors import DataError
from psp.core.files import atomic
from psp.core.logs import Progress
from psp.pairs.pair_file import blocks, columns_of, own_layout
from psp.training.teaching.targets import DistillationTargets

log = logging.getLogger(__name__)

#: The columns; the library's distillation loss reads the last.
SOURCE, TARGET, LABEL = "source", "target", "label"
#: Texts that are tokenized together while they are counted.
COUNTED = 2000


def write_dataset(pairs: Path, out: Path, targets: DistillationTargets | None = None) -> tuple[int, int]:
    """Write the pairs of a pair file, mixed or plain, as an Arrow stream.

    Args:
        pairs: the pair file.
        out: the stream.
        targets: a teacher's vectors for these pairs: both sides of each get the vector of its source, or else of its
            target; pairs of which neither side has one are left out.

    Returns:
        How many there are, and how many were left out.

    Raises:
        DataError: the file cannot be read, a line is malformed or has a side without text, or there are fewer than two
            pairs: one has no negatives; or ``targets`` are of other pairs.
    """
    layout = own_layout(pairs)
    fields = [(SOURCE, pyarrow.string()), (TARGET, pyarrow.string())]
    if targets is not None:
        fields.append((LABEL, pyarrow.list_(pyarrow.float32(), targets.vectors.shape[1])))
    schema = pyarrow.schema(fields)
    count = seen = 0
    with (
        atomic(out) as temporary,
        pyarrow.OSFile(str(temporary), "wb") as file,
        pyarrow.ipc.new_stream(file, schema) as stream,
    ):
        for number, block in blocks(pairs):
            columns: list[Any] = [*columns_of(block, pairs, number, layout)[:2]]
            length = len(columns[0])
            if targets is not None:
                targets.check_text(seen, columns)
                rows = np.asarray(targets.rows[seen : seen + length])
                chosen = np.where(rows[:, 0] >= 0, rows[:, 0], rows[:, 1])
                teacher_rows = np.flatnonzero(chosen >= 0)
                vectors = np.asarray(targets.vectors[chosen[teacher_rows]], np.float32)
                columns = [[side[row] for row in teacher_rows] for side in columns]
                columns.append(pyarrow.FixedSizeListArray.from_arrays(vectors.ravel(), vectors.shape[1]))
            seen += length
            count += len(columns[0])
            stream.write_batch(pyarrow.record_batch([pyarrow.array(side) for side in columns], schema=schema))
        if targets is not None and seen != len(targets.rows):
            raise DataError(
                f"for {len(targets.rows):,} pairs, but {pairs} has {seen:,}; run the step teach",
                targets.path,
            )
        if count < 2:
            raise DataError(f"{count} pairs; training needs two or more", pairs)
    return count, seen - count


def read_dataset(path: Path) -> Any:
    """Open what :func:`write_dataset` wrote: a ``datasets.Dataset``, memory-mapped."""
    import datasets

    return datasets.Dataset.from_file(str(path))


def count_cut(dataset: Any, tokenizer: Any, max_length: int) -> int:
    """Count the texts of both sides that have more than ``max_length`` tokens, including the begin and end markers."""
    cut = 0
    with Progress("measuring texts", "pairs", len(dataset)) as progress:
        for start in range(0, len(dataset), COUNTED):
            rows = dataset[start : start + COUNTED]
            texts = [*rows[SOURCE], *rows[TARGET]]
            encoded = tokenizer(texts, add_special_tokens=True, truncation=False, padding=False, verbose=False)
            cut += sum(len(ids) > max_length for ids in encoded["input_ids"])
            progress.add(len(rows[SOURCE]))
    if cut:
        log.warning(
            "%d of %d texts have more than %d tokens; the rest of them is not read (max_length)",
            cut, 2 * len(dataset), max_length,
        )  # fmt: skip
    return cut
