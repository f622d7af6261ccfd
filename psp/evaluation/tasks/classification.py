"""Classification on frozen vectors: scikit-learn's logistic regression, by SentEval's protocol.

A pair (u, v) enters as [|u - v|, u * v]. The regularisation is one of SentEval's six, C = 2^t for t from -2 to 3, with
the best accuracy on the development part or, without one, over ten stratified folds of the training part. Sets without
a test part (MR, CR, SUBJ, MPQA) are cross-validated in ten folds, each of which chooses its own C. Folds are those of
scikit-learn's ``StratifiedKFold`` with SentEval's seed, 1111.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from psp.config.blocks.base import Block
from psp.config.blocks.fields import Text, setting
from psp.core.errors import ConfigError, DataError, PspError
from psp.evaluation.scorers import Scorer
from psp.evaluation.tasks import splits
from psp.evaluation.tasks.base import PERCENT, BootstrapSpec, Measure, Metric, Part, Task, columns, lines
from psp.evaluation.testsets import sentence

REGULARISATION = [2.0**t for t in range(-2, 4)]
FOLDS = 10

#: Columns of the label and of the texts, and whether the file has a header.
COLUMNS: Mapping[str, tuple[tuple[str | int, ...], bool]] = {
    "pairs": ((0, 1, 2), False),
    "mrpc": (("Quality", "#1 String", "#2 String"), True),
    "sick": (("entailment_judgment", "sentence_A", "sentence_B"), True),
}
#: Layouts whose labels are 0 and 1, where F1 of the pairs labelled 1 is reported in addition to the accuracy.
WITH_F1 = ("mrpc",)

Labels = npt.NDArray[np.intp]
Features = npt.NDArray[np.float32]
Each = Callable[[Callable[[Any], Any], Iterable[Any]], Iterable[Any]]


class Classification(Task):
    """Accuracy of a linear classifier on the vectors; one part, ``all``."""

    kind = "classification"
    help = "a linear classifier on frozen vectors, of texts or of pairs (SentEval)"

    class Settings(Block):
        """The keys of an entry besides `task`."""

        layout: Literal["plain", "trec", "polarity", "sst", "pairs", "mrpc", "sick"] = setting(
            "plain",
            "plain: lines `label text`; trec: TREC's `COARSE:fine text`, by the coarse label; polarity: files "
            "`path` with the endings of `labels`, cross-validated; sst: lines `text \\t label` or `label text`; "
            "pairs: lines `label \\t text \\t text`; mrpc, sick: as published",
        )
        path: Text = setting(..., "the file to score, or for polarity the two files' name without ending")
        train: str | None = setting(None, "the training file; null: `path` is cross-validated in ten parts")
        dev: str | None = setting(None, "the development file; null: ten parts of the training file")
        labels: Literal["pos neg", "subjective objective"] = setting(
            "pos neg", "the endings of polarity's two files, which are their labels"
        )
        encoding: Literal["utf-8", "cp1252", "latin-1"] = setting(
            "utf-8", "encoding of the files; MR and SUBJ as published are cp1252"
        )
        seed: int = setting(1111, "seed of the parts; SentEval's is 1111", ge=0)

    metrics: ClassVar[Mapping[str, Measure]] = {
        "accuracy": Measure("share of items with the right label", PERCENT),
        "f1": Measure("F1 of the pairs labelled 1 (layout mrpc)", PERCENT),
    }

    paths = frozenset({"path", "train", "dev"})

    def files(self) -> list[Path]:
        if self.settings["layout"] == "polarity":
            if self.settings["train"] or self.settings["dev"]:
                raise ConfigError(f"{self.place}: layout polarity is cross-validated; leave out `train` and `dev`")
            return [Path(f"{self.path('path')}.{end}") for end in self.settings["labels"].split()]
        if self.settings["dev"] and not self.settings["train"]:
            raise ConfigError(f"{self.place}: `dev` needs `train`")
        return [self.path(key) for key in ("path", "train", "dev") if self.settings[key]]

    @cached_property
    def parts(self) -> list[splits.Items]:
        """The items to score, then those of the training and the development part, if any."""
        if self.settings["layout"] == "polarity":
            return [splits.items_of(self.path("path"), self._polarity())]
        return [splits.items_of(path, self._rows(path)) for path in self.files()]

    def _polarity(self) -> Iterator[tuple[int, tuple[str, ...], str]]:
        # Blank lines are kept: MPQA and CR have some, and their published sizes count them.
        for end, path in zip(self.settings["labels"].split(), self.files(), strict=True):
            for line, row in enumerate(lines(path, self.settings["encoding"]), start=1):
                yield line, (row.strip(),), end

    def _rows(self, path: Path) -> Iterator[tuple[int, tuple[str, ...], str]]:
        layout, encoding = self.settings["layout"], self.settings["encoding"]
        if layout in COLUMNS:
            wanted, header = COLUMNS[layout]
            for line, (label, *texts) in columns(path, wanted, header=header, encoding=encoding):
                if layout in WITH_F1 and label not in ("0", "1"):
                    raise DataError(f"the label {label!r} is neither 0 nor 1", path, line)
                yield line, tuple(sentence(one, path, line).strip() for one in texts), label
            return
        for line, row in enumerate(lines(path, encoding), start=1):
            if layout == "sst" and "\t" in row:
                words, _, label = row.rpartition("\t")
            else:
                label, _, words = row.strip().partition(" ")
            if not words.strip() or not label.strip():
                expected = "`text \\t label` or `label text`" if layout == "sst" else "`label text`"
                raise DataError(f"no {expected}", path, line)
            yield line, (words.strip(),), label.partition(":")[0] if layout == "trec" else label.strip()

    def sentences(self) -> Iterator[str]:
        for texts in self.parts[0].texts:
            yield from filter(None, texts)

    def score(self, scorer: Scorer, draw: BootstrapSpec) -> dict[str, Part]:
        # The training part determines the labels.
        order = [1, 0, 2][: len(self.parts)] if len(self.parts) > 1 else [0]
        names, numbers = splits.numbered([self.parts[place] for place in order])
        labels = [numbers[order.index(place)] for place in range(len(self.parts))]
        features = splits.features_of(scorer, self.parts)
        with _threads() as each:
            if len(features) == 1:
                predicted, chosen = _cross_validated(features[0], labels[0], self._folds(labels[0]), each)
            else:
                dev = (features[2], labels[2]) if len(features) > 2 else None
                c = _chosen(features[1], labels[1], dev or self._folds(labels[1]), each)
                predicted, chosen = _fitted(features[1], labels[1], c).predict(features[0]), [c]
        gold = labels[0]
        figures = {"accuracy": draw.mean(100.0 * (predicted == gold))}
        if self.settings["layout"] in WITH_F1:
            figures["f1"] = _f1(predicted == names.index("1"), gold == names.index("1"), draw)
        return {"all": Part(len(gold), figures, {"classes": len(names), "regularisation": chosen, **self._published()})}

    def _folds(self, labels: Labels) -> Any:
        """The folds of a training part.

        Raises:
            DataError: no label has enough items.
        """
        from sklearn.model_selection import StratifiedKFold

        most = int(np.bincount(labels).max())
        # In cross-validation, nine tenths are themselves divided into ten parts.
        if most - (0 if len(self.parts) > 1 else -(-most // FOLDS)) < FOLDS:
            path = self.files()[min(1, len(self.parts) - 1)]
            raise DataError(f"no label has more than {most} items, too few to be divided into {FOLDS} parts", path)
        return StratifiedKFold(FOLDS, shuffle=True, random_state=self.settings["seed"])

    def _published(self) -> dict[str, int]:
        """Oddities of the set, which are scored anyway."""
        test, counts = self.parts[0], {}
        if blank := sum(not any(texts) for texts in test.texts):
            counts["blank"] = blank
        if len(self.parts) > 1:
            return {**counts, "train_items": len(self.parts[1].texts), **splits.also_in_training(self.parts[1], test)}
        return {**counts, "items_of_several_labels": splits.of_several_labels(test)}


def _f1(positive: npt.NDArray[np.bool_], gold: npt.NDArray[np.bool_], draw: BootstrapSpec) -> Metric:
    right, both = (positive & gold).astype(np.float64), positive.astype(np.float64) + gold
    counts = draw.counts(len(gold))
    if not both.any():
        return Metric(None, why="no pair is labelled 1, nor predicted to be")
    total = counts @ both
    resampled = np.divide(200 * (counts @ right), total, out=np.full(len(total), np.nan), where=total > 0)
    return Metric(200 * float(right.sum() / both.sum()), resampled)


def _cross_validated(vectors: Features, labels: Labels, folds: Any, each: Each) -> tuple[Labels, list[float]]:
    def fold(rows: tuple[Labels, Labels]) -> tuple[Labels, Labels, float]:
        train, held = rows
        c = _chosen(vectors[train], labels[train], folds, map)
        predictions: Labels = _fitted(vectors[train], labels[train], c).predict(vectors[held])
        return held, predictions, c

    predicted, chosen = np.empty_like(labels), []
    for held, labelled, c in each(fold, folds.split(vectors, labels)):
        predicted[held] = labelled
        chosen.append(c)
    return predicted, chosen


def _chosen(vectors: Features, labels: Labels, dev: Any, each: Each) -> float:
    """The regularisation with the best accuracy on ``dev``, vectors and labels, or over folds; of equals the first."""

    def scores(train: Features, known: Labels, held: Features, gold: Labels) -> list[float]:
        return [float((_fitted(train, known, c).predict(held) == gold).mean()) for c in REGULARISATION]

    def of_fold(rows: tuple[Labels, Labels]) -> list[float]:
        train, held = rows
        return scores(vectors[train], labels[train], vectors[held], labels[held])

    if isinstance(dev, tuple):
        return REGULARISATION[int(np.argmax(scores(vectors, labels, *dev)))]
    return REGULARISATION[int(np.argmax(np.mean(list(each(of_fold, dev.split(vectors, labels))), axis=0)))]


def _fitted(vectors: Features, labels: Labels, c: float) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=c, max_iter=1000).fit(vectors, labels)


@contextlib.contextmanager
def _threads() -> Iterator[Each]:
    """A ``map`` with as many threads as the linear algebra has, which in turn gets one each.

    So results do not depend on the number of cores, and ten fits of a few seconds each use all of them. A call takes
    the rows of a fold and copies these: only as many folds are in memory as there are threads.
    """
    try:
        import sklearn.linear_model  # noqa: F401 (loads what threadpoolctl counts)
    except ImportError:
        raise PspError("classification needs scikit-learn: pip install scikit-learn") from None
    from threadpoolctl import threadpool_info, threadpool_limits

    threads = max((one["num_threads"] for one in threadpool_info()), default=1)
    with threadpool_limits(1), ThreadPoolExecutor(threads) as pool:
        yield pool.map
