"""Forms on which people judge pairs, and the agreement of their labels.

A form (the workflow's stats.sheet.tsv) has tab-separated columns ``id reference translation paraphrase fluency``. It
does not show the score, which its labels check. Rows are in the order of their ids, which are hashes, so ranges are
mixed.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from psp.core.errors import DataError
from psp.core.files import atomic_text
from psp.pairs.stats.sample import Pair, pair_id

#: What people judge, each from 1 to 3: whether the translation means the same as the reference, and is fluent.
JUDGED = ("paraphrase", "fluency")
COLUMNS = ("id", "reference", "translation", *JUDGED)
LABELS = (1, 2, 3)


class AnnotationForm(NamedTuple):
    """A form that an annotator has filled, wholly or in part."""

    path: Path
    labels: Mapping[str, tuple[int, ...]]  # by the pair's id: paraphrase and fluency, 0 where it is empty


def write_form(path: Path | str, pairs: Iterable[Pair]) -> int:
    """Write a form without labels, each pair once; return its rows.

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
    """A text as a cell of one line that no program takes for a formula."""
    line = " ".join(text.split())
    return f"'{line}" if line.startswith(("=", "+", "-", "@")) else line


def read_form(path: Path | str) -> AnnotationForm:
    """Read a filled form; columns may stand in any order, and there may be others.

    Raises:
        DataError: it is not a table in UTF-8; a label is not 1, 2 or 3; an id is missing or twice in it; or it has no
            label at all.
    """
    path, labels = Path(path), dict[str, tuple[int, ...]]()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, delimiter="\t", strict=True)
            if missing := [name for name in ("id", *JUDGED) if name not in (reader.fieldnames or ())]:
                raise DataError(f"no column {' or '.join(missing)}; save the form as text with tabs", path, 1)
            for row in reader:
                number, *given = [(row[name] or "").strip() for name in ("id", *JUDGED)]
                if wrong := next((one for one in given if one not in ("", *map(str, LABELS))), None):
                    raise DataError(f"a label is {wrong!r:.40}; write 1, 2 or 3, or nothing", path, reader.line_num)
                if not number or number in labels:
                    raise DataError(f"the id {number} is missing or twice; leave the row out", path, reader.line_num)
                labels[number] = tuple(int(one or 0) for one in given)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"not a table in UTF-8 with tabs ({error}); fill in a copy of stats.sheet.tsv", path) from None
    if not any(map(any, labels.values())):
        raise DataError("no row has a label; fill in paraphrase and fluency, 1 to 3, or leave the file out", path)
    return AnnotationForm(path, labels)


def kappa(labels: Sequence[tuple[int, int]]) -> float | None:
    """Cohen's kappa of two annotators' labels of the same pairs; None where chance alone would have them agree."""
    one, other = np.array(labels, np.int64).reshape(-1, 2).T
    chance = sum(float((one == label).mean() * (other == label).mean()) for label in LABELS) if labels else 1.0
    return None if chance >= 1 else (float((one == other).mean()) - chance) / (1 - chance)


def counts(forms: Sequence[AnnotationForm], ranges: Mapping[str, int], number: int) -> dict[str, Any]:
    """Labels by range, and agreement.

    Args:
        forms: filled ones.
        ranges: for the ids of this corpus, the number of the range from 0.
        number: how many ranges there are.

    Returns:
        The annotators; for each range and each of :data:`JUDGED`, for each annotator how often each label; for each two
        annotators the pairs that both have labelled, the share on which they agree, and kappa.
    """
    stems = [form.path.stem for form in forms]
    names = [stem if stems.count(stem) == 1 else str(form.path) for stem, form in zip(stems, forms, strict=True)]
    labelled: list[dict[str, Any]] = [{name: [] for name in JUDGED} for _ in range(number)]
    agreement: list[dict[str, Any]] = [{"annotators": list(two)} for two in combinations(names, 2)]
    for place, name in enumerate(JUDGED):
        given = [
            {one: row[place] for one, row in form.labels.items() if row[place] and one in ranges} for form in forms
        ]
        for own in given:
            found = Counter((ranges[one], label) for one, label in own.items())
            for of_range in range(number):
                labelled[of_range][name].append([found[of_range, label] for label in LABELS])
        for entry, (first, second) in zip(agreement, combinations(given, 2), strict=True):
            both = [(label, second[one]) for one, label in first.items() if one in second]
            agree = sum(one == other for one, other in both) / len(both) if both else None
            entry[name] = {"pairs": len(both), "agree": agree, "kappa": kappa(both)}
    return {"annotators": names, "ranges": labelled, "agreement": agreement}
