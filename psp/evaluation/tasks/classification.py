"""Classification on frozen vectors: logistic regression of scikit-learn on a system's embeddings, as in SentEval.

The regularisation is one of SentEval's six, C = 2^t for t from -2 to 3, by accuracy on a tenth of the training part
that is held out for it (on the development part where the set has one). Sets without a test part (MR) are
cross-validated in ten parts, stratified; SentEval's inner cross-validation is ten times as much work for the same
choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from psp.core.errors import ConfigError, DataError, PspError
from psp.core.settings import Setting, choice, text, whole
from psp.evaluation.scorers import Floats, Scorer
from psp.evaluation.tasks.contract import Draw, Part, Task, embedded, lines

REGULARISATION = [2.0**t for t in range(-2, 4)]
FOLDS = 10


class Labelled(NamedTuple):
    texts: list[str]
    labels: list[str]


class Classification(Task):
    """Accuracy of a linear classifier on the vectors; one part, ``all``."""

    kind = "classification"
    help = "a linear classifier on frozen vectors (SentEval)"
    declared: ClassVar[Mapping[str, Setting]] = {
        "layout": choice(
            "plain",
            ["plain", "trec", "polarity"],
            help="plain: lines `label text`; trec: TREC's `COARSE:fine text`, by the coarse label; polarity: files "
            "`path`.pos and `path`.neg, cross-validated",
        ),
        "path": text(at_least=1, help="the file to score, or for polarity the two files' name without ending"),
        "train": text(None, null=True, help="the training file; null: `path` is cross-validated in ten parts"),
        "dev": text(None, null=True, help="the development file; null: a tenth of the training part"),
        "seed": whole(1, at_least=0, help="seed of the parts"),
    }
    figures: ClassVar[Mapping[str, str]] = {"accuracy": "share of texts with the right label, in %"}

    def files(self) -> list[Path]:
        if self.settings["layout"] == "polarity":
            if self.settings["train"] or self.settings["dev"]:
                raise ConfigError(f"{self.place}: layout polarity is cross-validated; leave out `train` and `dev`")
            return [Path(f"{self.path('path')}.{end}") for end in ("pos", "neg")]
        if self.settings["dev"] and not self.settings["train"]:
            raise ConfigError(f"{self.place}: `dev` needs `train`")
        return [self.path(key) for key in ("path", "train", "dev") if self.settings[key]]

    @cached_property
    def parts(self) -> list[Labelled]:
        """The texts to score, then those of the training and the development part, if any."""
        if self.settings["layout"] == "polarity":
            sides = [[line for line in lines(path) if line.strip()] for path in self.files()]
            labels = [end for end, side in zip(("pos", "neg"), sides, strict=True) for _ in side]
            return [Labelled([*sides[0], *sides[1]], labels)]
        parts = [self._read(path) for path in self.files()]
        for path, part in zip(self.files(), parts, strict=True):
            if strange := set(part.labels) - set(parts[1 if len(parts) > 1 else 0].labels):
                raise DataError(f"labels that the training file has not: {', '.join(sorted(strange)[:5])}", path)
        return parts

    def _read(self, path: Path) -> Labelled:
        found = Labelled([], [])
        for line, row in enumerate(lines(path), start=1):
            label, _, words = row.strip().partition(" ")
            if not words.strip():
                raise DataError("no `label text` separated by a space", path, line)
            found.texts.append(words.strip())
            found.labels.append(label.partition(":")[0] if self.settings["layout"] == "trec" else label)
        if len(set(found.labels)) < 2:
            raise DataError("all labels are the same; there is nothing to classify", path)
        return found

    def sentences(self) -> Iterator[str]:
        yield from self.parts[0].texts

    def score(self, scorer: Scorer, draw: Draw) -> dict[str, Part]:
        vectors = [embedded(scorer, part.texts) for part in self.parts]
        names, numbers = np.unique([label for part in self.parts for label in part.labels], return_inverse=True)
        labels = np.split(numbers, np.cumsum([len(part.labels) for part in self.parts])[:-1])
        rng = np.random.default_rng(self.settings["seed"])
        if len(vectors) == 1:
            predicted, chosen = _cross_validated(vectors[0], labels[0], rng)
        else:
            dev = (vectors[2], labels[2]) if len(vectors) > 2 else None
            predicted, c = _classified(vectors[1], labels[1], vectors[0], dev, rng)
            chosen = [c]
        figure = draw.mean(100.0 * (predicted == labels[0]))
        return {"all": Part(len(predicted), {"accuracy": figure}, {"classes": len(names), "regularisation": chosen})}


def folds(labels: npt.NDArray[np.intp], count: int, rng: np.random.Generator) -> npt.NDArray[np.intp]:
    """Assign each item to one of ``count`` parts at random, each with its share of every label."""
    part = np.empty(len(labels), np.intp)
    for label in np.unique(labels):
        rows = rng.permutation(np.flatnonzero(labels == label))
        part[rows] = (np.arange(len(rows)) + rng.integers(count)) % count
    return part


def _cross_validated(
    vectors: Floats, labels: npt.NDArray[np.intp], rng: np.random.Generator
) -> tuple[npt.NDArray[np.intp], list[float]]:
    part, predicted, chosen = folds(labels, FOLDS, rng), np.empty_like(labels), []
    for fold in range(FOLDS):
        held = part == fold
        predicted[held], c = _classified(vectors[~held], labels[~held], vectors[held], None, rng)
        chosen.append(c)
    return predicted, chosen


def _classified(
    vectors: Floats,
    labels: npt.NDArray[np.intp],
    unseen: Floats,
    dev: tuple[Floats, npt.NDArray[np.intp]] | None,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.intp], float]:
    """Train on ``vectors`` and label ``unseen``; also the regularisation that was chosen."""
    if dev is None:
        held = folds(labels, FOLDS, rng) == 0
        train, dev = (vectors[~held], labels[~held]), (vectors[held], labels[held])
    else:
        train = vectors, labels
    scores = [float((_fitted(*train, c).predict(dev[0]) == dev[1]).mean()) for c in REGULARISATION]
    best = REGULARISATION[int(np.argmax(scores))]
    found: npt.NDArray[np.intp] = _fitted(vectors, labels, best).predict(unseen)
    return found, best


def _fitted(vectors: Floats, labels: npt.NDArray[np.intp], c: float) -> Any:
    try:
        from sklearn.linear_model import LogisticRegression
    except ImportError:
        raise PspError("scikit-learn is not installed, which classifies; pip install scikit-learn") from None
    return LogisticRegression(C=c, max_iter=1000).fit(vectors, labels)
