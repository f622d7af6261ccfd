r"""Forms on which people judge pairs, and statistics of their labels.

A form (the workflow's stats.sheet.tsv) is a file of tab-separated columns ``id reference translation paraphrase
fluency``, UTF-8, with quotes where a cell needs them (RFC 4180), which spreadsheet programs read. It shows neither the
score nor its range, which annotators should not see, since they check it. Rows are in the order of their ids, which are
hashes, so ranges are mixed.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import DataError
from psp.core.files import atomic_text
from psp.pairs.stats.sample import Pair, pair_id
from psp.text.keys import normalised_key

#: What people judge, each from 1 to 3: whether the translation means the same as the reference, and is fluent.
JUDGED = ("paraphrase", "fluency")
COLUMNS = ("id", "reference", "translation", *JUDGED)
LABELS = (1, 2, 3)
_AS_WRITTEN = "fill in a copy of stats.sheet.tsv as the workflow writes it"


def write_form(path: Path | str, pairs: Iterable[Pair]) -> int:
    """Write a form without labels, each pair once.

    Returns:
        Its rows.

    Raises:
        DataError: the disk is full, or the folder is not writable.
    """
    rows = {pair_id(pair.source, pair.target): pair for pair in pairs}
    with atomic_text(path) as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(COLUMNS)
        writer.writerows([number, *map(_cell, rows[number][:2]), "", ""] for number in sorted(rows))
    return len(rows)


def _cell(text: str) -> str:
    """A text as a cell of one line that no program takes for a formula: saving would lose both.

    The comparison in :func:`check_rows` is of letters and digits only.
    """
    line = " ".join(text.split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line


@dataclass(frozen=True)
class Row:
    """A row of a form.

    Attributes:
        line: where it begins in the file, from 1.
        texts: reference and translation as the form has them; empty where it has lost them.
        labels: paraphrase and fluency, 1 to 3; None where nothing is filled in.
    """

    line: int
    texts: tuple[str, str]
    labels: tuple[int | None, int | None]


@dataclass(frozen=True)
class AnnotationForm:
    """A form that an annotator has filled, wholly or in part.

    Attributes:
        path: the file.
        rows: by the id of the pair.
    """

    path: Path
    rows: Mapping[str, Row]


def read_form(path: Path | str) -> AnnotationForm:
    """Read a filled form, with the quotes, line ends and byte order mark of spreadsheet programs; also as UTF-16.

    Columns may stand in any order, and there may be others.

    Raises:
        DataError: the file cannot be read or has no such columns; a label is not 1, 2 or 3; an id is twice in it; or
            it has no label at all.
    """
    path = Path(path)
    reader = csv.reader(io.StringIO(_text(path), newline=""), delimiter="\t", strict=True)
    rows: dict[str, Row] = {}
    try:
        header = [name.strip().lower() for name in next(reader, [])]
        if missing := [name for name in ("id", *JUDGED) if name not in header]:
            raise DataError(
                f"no column {' or '.join(missing)}; save the sheet as text with tabs between columns, and keep its "
                "first line",
                path,
                1,
            )
        line = reader.line_num + 1
        for cells in reader:
            here, line = line, reader.line_num + 1
            if not any(map(str.strip, cells)):
                continue
            row = dict(zip(header, map(str.strip, cells), strict=False))
            if not (number := row.get("id", "")):
                raise DataError(f"a row without an id; {_AS_WRITTEN}", path, here)
            if number in rows:
                raise DataError(
                    f"the id {number} is also in line {rows[number].line}; leave one of the two out", path, here
                )
            one, other = (_label(row.get(judged, ""), judged, path, here) for judged in JUDGED)
            rows[number] = Row(here, (row.get("reference", ""), row.get("translation", "")), (one, other))
    except csv.Error as error:
        raise DataError(f"not a table with tabs ({error}); {_AS_WRITTEN}", path, reader.line_num) from None
    if not any(label is not None for row in rows.values() for label in row.labels):
        raise DataError("no row has a label; fill in paraphrase and fluency, 1 to 3, or leave the file out", path)
    return AnnotationForm(path, rows)


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    encoding = "utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError("not UTF-8; save it as text in UTF-8, with tabs", path, line) from None


def _label(text: str, judged: str, path: Path, line: int) -> int | None:
    if not text:
        return None
    if text not in map(str, LABELS):
        raise DataError(f"{judged} is {text!r:.40}; write 1, 2 or 3, or nothing", path, line)
    return int(text)


def check_rows(form: AnnotationForm, pairs: Mapping[str, Pair]) -> None:
    """Check that the rows of a form are pairs of the corpora.

    Args:
        pairs: pairs of the corpora by id.

    Raises:
        DataError: a row is of another corpus, or its texts are those of another row.
    """
    for number, row in form.rows.items():
        if (pair := pairs.get(number)) is None:
            raise DataError(
                f"no pair of these corpora has the id {number}; name the corpus and the filters that the sheet "
                "was drawn from",
                form.path,
                row.line,
            )
        for text, own, name in zip(row.texts, pair[:2], COLUMNS[1:3], strict=True):
            if text and normalised_key(text) != normalised_key(own):
                raise DataError(
                    f"the {name} is {text!r:.60}, but that of the id {number} is {own!r:.60}; sort whole rows only, or "
                    "empty the cell if a program has changed it",
                    form.path,
                    row.line,
                )


def kappa(first: Sequence[int], second: Sequence[int]) -> float | None:
    """Cohen's kappa of two annotators' labels of the same pairs: (agreement - chance) / (1 - chance).

    Returns:
        None without pairs, and where both give all pairs the same label: then chance agreement is 1.
    """
    if not first:
        return None
    one, other = np.asarray(first), np.asarray(second)
    chance = sum(float((one == label).mean() * (other == label).mean()) for label in LABELS)
    return None if chance >= 1 else (float((one == other).mean()) - chance) / (1 - chance)


def counts(forms: Sequence[AnnotationForm], ranges: Mapping[str, int], number: int) -> dict[str, Any]:
    """Labels by range, and agreement.

    Args:
        forms: filled ones.
        ranges: for the ids of this corpus, the number of the range from 0.
        number: how many ranges there are.

    Returns:
        The annotators, by the names of their files without endings; for each range and each of :data:`JUDGED`, for each
        annotator how often each label; for each two annotators the pairs that both have labelled, the share on which
        they agree, and kappa.
    """
    stems = [form.path.stem for form in forms]
    names = [stem if stems.count(stem) == 1 else str(form.path) for stem, form in zip(stems, forms, strict=True)]
    labelled = np.zeros((number, len(JUDGED), len(forms), len(LABELS)), np.int64)
    for place, form in enumerate(forms):
        for one, row in form.rows.items():
            for judged, label in enumerate(row.labels):
                if label is not None and one in ranges:
                    labelled[ranges[one], judged, place, label - 1] += 1
    return {
        "annotators": names,
        "ranges": [
            {name: of_range[judged].tolist() for judged, name in enumerate(JUDGED)} for of_range in labelled
        ],
        "agreement": [
            {
                "annotators": [names[one], names[other]],
                **{name: _agreement(forms[one], forms[other], judged, ranges) for judged, name in enumerate(JUDGED)},
            }
            for one, other in combinations(range(len(forms)), 2)
        ],
    }  # fmt: skip


def _agreement(one: AnnotationForm, other: AnnotationForm, judged: int, ranges: Mapping[str, int]) -> dict[str, Any]:
    both = [
        (first, second)
        for number, row in one.rows.items()
        if number in ranges
        and number in other.rows
        and (first := row.labels[judged]) is not None
        and (second := other.rows[number].labels[judged]) is not None
    ]
    firsts, seconds = [first for first, _ in both], [second for _, second in both]
    return {
        "pairs": len(both),
        "agree": sum(map(int.__eq__, firsts, seconds)) / len(both) if both else None,
        "kappa": kappa(firsts, seconds),
    }
