"""Test sets that are published as a folder with a training, a development and a test part, for trained classifiers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt
from pydantic import Field

from psp.config.blocks.fields import Distinct, setting
from psp.core.errors import DataError
from psp.evaluation.scorers import Floats, Scorer, distinct
from psp.evaluation.tasks.base import Task, columns, embedded, lines
from psp.evaluation.testsets import sentence
from psp.text.keys import normalised_keys

#: The parts, in the order used throughout this module.
PARTS = ("train", "dev", "test")
#: The key ``seeds`` of tasks that train; SentEval's seed is 1111.
Seeds = Annotated[list[Annotated[int, Field(ge=0)]], Distinct]
SEEDS: Any = setting(
    [1111, 1112, 1113],
    "seeds of the initial weights and of the order of items; each is a separate training run",
    min_length=1,
)


class SplitLayout(NamedTuple):
    """How the files of a folder are named, and their columns.

    Attributes:
        names: of the parts' files; ``*`` stands for the set's name.
        columns: of the sentences, and those of label and score where there is one; none for lines ``label text``.
        label, score: the column of the label, and of the score.
        header: whether the first line names the columns.
        help: for the settings.
    """

    names: tuple[str, str, str]
    columns: tuple[str | int, ...]
    label: str | int | None
    score: str | int | None
    header: bool
    help: str


LAYOUTS = {
    "plain": SplitLayout(
        ("train.txt", "dev.txt", "test.txt"), (), 0, None, False, "train.txt, dev.txt, test.txt: lines `label text`"
    ),
    "pairs": SplitLayout(
        ("train.tsv", "dev.tsv", "test.tsv"), (1, 2), 0, 0, False,
        "train.tsv, dev.tsv, test.tsv: lines `label or score \\t sentence \\t sentence`",
    ),
    "ppc": SplitLayout(
        ("train.txt", "dev.txt", "test.txt"), ("sentence_A", "sentence_B"), "label", None, True,
        "the Polish Paraphrase Corpus as published",
    ),
    "sick": SplitLayout(
        ("*_train.txt", "*_trial.txt", "*_test_annotated.txt"), ("sentence_A", "sentence_B"), "entailment_judgment",
        "relatedness_score", True, "SICK and CDSCorpus as published",
    ),
}  # fmt: skip


class Items(NamedTuple):
    """One part: for each item its texts (one or two), the label or score as written, and its place in the file."""

    texts: list[tuple[str, ...]]
    labels: list[str]
    lines: list[int]
    path: Path


def items_of(path: Path, rows: Iterable[tuple[int, tuple[str, ...], str]]) -> Items:
    """The items of a file, from their lines, texts and labels or scores."""
    every = list(rows)
    return Items([texts for _, texts, _ in every], [label for *_, label in every], [line for line, *_ in every], path)


class Split(Task):
    """A task whose set is a folder with the three parts; not itself a kind of task."""

    scores: ClassVar[bool] = False
    """Whether its items have scores rather than labels."""

    def files(self) -> list[Path]:
        return part_files(self.path("path"), self.settings["layout"])

    @cached_property
    def parts(self) -> list[Items]:
        """The training, development and test part."""
        return [read_items(path, self.settings["layout"], scores=self.scores) for path in self.files()]

    def sentences(self) -> Iterator[str]:
        for texts in self.parts[2].texts:
            yield from texts


def layout_help(names: Sequence[str]) -> str:
    """A description of the layouts, for the settings of a task."""
    return "; ".join(f"{name}: {LAYOUTS[name].help}" for name in names)


def part_files(folder: Path, layout: str) -> list[Path]:
    """Return the files of the three parts, in the order of :data:`PARTS`.

    A set whose files begin with its name may have any name; if there are no such files, the folder's name is expected.

    Raises:
        DataError: the folder holds several sets.
    """
    files = []
    for name in LAYOUTS[layout].names:
        there = sorted(folder.glob(name)) if "*" in name else []
        if len(there) > 1:
            raise DataError(f"holds {there[0].name} and {there[1].name}; put each set in its own folder", folder)
        files.append(there[0] if there else folder / name.replace("*", folder.name))
    return files


def read_items(path: Path, layout: str, *, scores: bool = False) -> Items:
    """Read one part, with its labels or, if ``scores``, with its scores.

    Raises:
        DataError: the file is missing, empty or malformed (file and line are named).
    """
    about = LAYOUTS[layout]
    items = items_of(path, _rows(path, about, about.score if scores else about.label))
    if not items.texts:
        raise DataError("has only a header", path)
    return items


def _rows(path: Path, about: SplitLayout, wanted: str | int | None) -> Iterator[tuple[int, tuple[str, ...], str]]:
    if not about.columns:
        for line, row in enumerate(lines(path), start=1):
            label, _, words = row.strip().partition(" ")
            if not words.strip():
                raise DataError("no `label text` separated by a space", path, line)
            yield line, (words.strip(),), label
        return
    assert wanted is not None
    for line, (label, *texts) in columns(path, (wanted, *about.columns), header=about.header):
        yield line, tuple(sentence(text, path, line) for text in texts), label.strip()


def vectors_of(scorer: Scorer, parts: Sequence[Items]) -> list[tuple[Floats, ...]]:
    """Embed all parts at once: for each part and each side of its items an array, float64 (items, dim).

    Raises:
        Unsupported: the system has no vectors.
    """
    sides = [list(side) for part in parts for side in zip(*part.texts, strict=True)]
    texts, rows = distinct([text for side in sides for text in side])
    vectors = embedded(scorer, texts)
    arrays = iter(vectors[one] for one in np.split(rows, np.cumsum([len(side) for side in sides])[:-1]))
    return [tuple(next(arrays) for _ in part.texts[0]) for part in parts]


def features_of(scorer: Scorer, parts: Sequence[Items]) -> list[npt.NDArray[np.float32]]:
    """What a classifier reads of each part, a row per item: its vector, or the features of a pair's two vectors.

    Raises:
        Unsupported: the system has no vectors.
    """
    from psp.evaluation import probes

    return [
        np.asarray(sides[0], np.float32) if len(sides) == 1 else probes.pair_features(*sides)
        for sides in vectors_of(scorer, parts)
    ]


def also_in_training(train: Items, test: Items) -> dict[str, int]:
    """Count test items that are also in the training part, by letters and digits, ignoring case.

    Returns:
        ``sentences_in_train``, distinct sentences of the test part that are in the training part; and for pairs
        ``pairs_in_train``, pairs of the test part that are a pair there, in either order.
    """
    (known, known_items), (keys, items) = _keys(train), _keys(test)
    shared = {"sentences_in_train": len(keys & known)}
    if len(test.texts[0]) > 1:
        shared["pairs_in_train"] = sum(item in known_items for item in items)
    return shared


def of_several_labels(part: Items) -> int:
    """Count distinct items that have several labels in a part, by letters and digits, ignoring case."""
    labels: dict[frozenset[str], set[str]] = {}
    for item, label in zip(_keys(part)[1], part.labels, strict=True):
        labels.setdefault(item, set()).add(label)
    return sum(len(given) > 1 for item, given in labels.items() if item != {""})


def _keys(part: Items) -> tuple[set[str], list[frozenset[str]]]:
    texts, rows = distinct([text for item in part.texts for text in item])
    keys = normalised_keys([text.replace("\t", " ") for text in texts])
    items = rows.reshape(len(part.texts), -1)
    return set(keys) - {""}, [frozenset(keys[row] for row in item) for item in items]


def numbered(parts: Sequence[Items]) -> tuple[list[str], list[npt.NDArray[np.intp]]]:
    """Return the labels of the training part, sorted, and for each part the numbers of its items' labels.

    Raises:
        DataError: the training part has only one label, or another part has one that it lacks.
    """
    names = sorted(set(parts[0].labels))
    if len(names) < 2:
        raise DataError("all labels are the same; there is nothing to classify", parts[0].path)
    numbers = {name: number for number, name in enumerate(names)}
    for part in parts:
        for line, label in zip(part.lines, part.labels, strict=True):
            if label not in numbers:
                raise DataError(f"the label {label!r} is not in the training part {parts[0].path}", part.path, line)
    return names, [np.array([numbers[label] for label in part.labels], np.intp) for part in parts]
