"""The validation score, by which training selects a model without touching any test set.

It is Pearson x 100 on SemEval-2017's English track (as in the paper; or on the user's own file) minus the retrieval
error in % on the held-out slice of the training corpora. For a model without English it is only the latter, unless the
user has STS pairs in its languages (the other tracks of SemEval-2017, in Arabic, Spanish and Turkish, are test sets).
The STS part alone, 250 pairs, is a weak criterion, so a config can name further sets
(:mod:`psp.evaluation.judged`), and settings are compared by pairs that are harder to find (:meth:`Development.final`).
The STS Benchmark's dev set is part of STS 2012 to 2016, so selecting on it would leak those tests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from psp.core.errors import ConfigError, DataError
from psp.evaluation.metrics import OF_PAIRS, no_correlation, standard_error
from psp.evaluation.scorers import EmbeddingScorer, Floats, Scorer
from psp.evaluation.testsets import StsSet, read_development, read_file
from psp.models.cosines import unit
from psp.pairs.pair_file import read_pairs

Vectors = npt.NDArray[np.float32]
#: The default weights of the parts of the score.
EQUAL: Mapping[str, float] = {"sts": 1.0, "heldout": 1.0}
#: Two cosines that differ by less are equal in float32.
_ROUNDING = 1e-6


@dataclass(frozen=True)
class JudgedSet:
    """A set of scored pairs, its metric (one of ``OF_PAIRS``), and its weight."""

    name: str
    data: StsSet
    metric: str = "pearson"
    weight: float = 1.0

    def value(self, similarity: Floats) -> float | None:
        """The metric x 100 for a system's similarities, float64 (pairs,); None if it is undefined."""
        if no_correlation(similarity, self.data.gold) is not None:
            return None
        return 100 * OF_PAIRS[self.metric](similarity, self.data.gold)

    def standard_error(self, similarity: Floats) -> float:
        """The standard error of :meth:`value` for other pairs of this kind; 0 if it is undefined."""
        if no_correlation(similarity, self.data.gold) is not None:
            return 0.0
        return 100 * standard_error(OF_PAIRS[self.metric], similarity, self.data.gold)


class Development:
    """A validation set: scored pairs, held-out translation pairs, or both.

    Args:
        sts: the STS set of the paper, or the user's own; None without.
        heldout: both sides of the held-out pairs; None without.
        sets: further sets of scored pairs.
        weights: ``sts``, the weight of that set in the mean over all sets, and ``heldout``, of the retrieval error.

    Raises:
        ConfigError: neither scored nor held-out pairs are given.
    """

    def __init__(
        self,
        sts: StsSet | None,
        heldout: tuple[list[str], list[str]] | None,
        *,
        sets: Sequence[JudgedSet] = (),
        weights: Mapping[str, float] = EQUAL,
    ) -> None:
        if sts is None and heldout is None and not sets:
            raise ConfigError("no data to select a model by; give a development STS set, a held-out slice, or both")
        self.sts, self.heldout, self.weights = sts, heldout, weights
        own = [] if sts is None else [JudgedSet(sts.name, sts, weight=weights["sts"])]
        self.sets = [*own, *sets]

    def __str__(self) -> str:
        sets = [f"{len(one.data):,} scored pairs ({one.name})" for one in self.sets]
        heldout = [] if self.heldout is None else [f"{len(self.heldout[0]):,} pairs held out of the corpora"]
        return " and ".join(sets + heldout)

    @property
    def sha256(self) -> str:
        """Hash of all texts and scores, and of their weights."""
        sets = [
            [one.data.a, one.data.b, [float(score) for score in one.data.gold], one.metric, one.weight]
            for one in self.sets
        ]
        return hashlib.sha256(json.dumps([sets, self.heldout, self.weights["heldout"]]).encode()).hexdigest()

    @classmethod
    def load(cls, sts: str | Path | None, heldout: Path | str | None, archive: Path | str | None = None) -> Development:
        r"""Read a validation set.

        Args:
            sts: ``"semeval2017-en"`` (read from ``archive``), or a file of ``score \t sentence \t sentence``, or None.
            heldout: a pair file (``source \t target``, with or without the corpus column), lower-cased and segmented
                as for training; or None.
            archive: the STS archive or folder.

        Raises:
            DataError: a file is missing or malformed, or the archive has no English track.
            ConfigError: no data to select by, or ``"semeval2017-en"`` without an archive.
        """
        return DevelopmentFiles(sts, None if heldout is None else Path(heldout), archive).read()

    def score(self, scorer: Scorer, heldout_scorer: Scorer | None = None) -> dict[str, Any]:
        """Evaluate a system, to compare the steps of one training run.

        Returns ``score`` (the weighted mean over the sets of scored pairs, minus the weighted ``error``, of the parts
        available; higher is better), ``pearson`` (on ``sts``, times 100; None without it or if undefined, counting as
        0), ``error`` (mean retrieval error in % of both directions, or None), ``pairs_sts`` and ``pairs_heldout``; and
        where there are further sets, ``sets``: their metrics by name.

        ``heldout_scorer`` scores the held-out text, if ``scorer`` would prepare it a second time (its Chinese is
        already segmented); the default is ``scorer``.

        A held-out sentence counts as found if the neighbour's text equals the right one: short sentences occur many
        times there, unlike in Tatoeba's sets, and no model could tell them apart.
        """
        values = [one.value(scorer.pairwise(one.data.a, one.data.b)) for one in self.sets]
        error = None
        if self.heldout is not None:
            wrong = self._wrong(heldout_scorer or scorer)
            error = round(100 * float(wrong.mean()), 4)
        rounded = [None if value is None else round(value, 4) for value in values]
        own, further = (rounded[:1], rounded[1:]) if self.sts is not None else ([None], rounded)
        names = [one.name for one in self.sets[len(self.sets) - len(further) :]]
        return {
            "score": round(self._total(rounded, error), 4),
            "pearson": own[0],
            "error": error,
            "pairs_sts": 0 if self.sts is None else len(self.sts),
            "pairs_heldout": 0 if self.heldout is None else len(self.heldout[0]),
            **({"sets": dict(zip(names, further, strict=True))} if further else {}),
        }

    def final(
        self, scorer: Scorer, heldout_scorer: EmbeddingScorer, candidates: Iterable[tuple[Vectors, Vectors]] = ()
    ) -> dict[str, Any]:
        """Evaluate a trained system, to compare settings: as :meth:`score`, but the held-out pairs are harder to find.

        Args:
            scorer, heldout_scorer: as for :meth:`score`.
            candidates: vectors of further sentences among which the held-out ones are searched for, in portions: of
                sources and of targets, float32 (sentences, dim), of any length. None of them may be a translation of a
                held-out one.

        Returns:
            ``score`` and its ``standard_error`` over other items of the kind, by the bootstrap; ``sets`` and
            ``retrieval``, with the items, the weight and the standard error of each part.
        """
        parts, variance, values = {}, 0.0, []
        total_weight = sum(one.weight for one in self.sets)
        for one in self.sets:
            similarity = scorer.pairwise(one.data.a, one.data.b)
            value, error = one.value(similarity), one.standard_error(similarity)
            values.append(value)
            variance += (one.weight / total_weight * error) ** 2
            parts[one.name] = {
                "metric": one.metric,
                "value": None if value is None else round(value, 4),
                "standard_error": round(error, 4),
                "items": len(one.data),
                "weight": one.weight,
            }
        retrieval, rate = None, None
        if self.heldout is not None:
            wrong = self._wrong(heldout_scorer)
            among = 0
            queries = [_unit(heldout_scorer.vectors(side)) for side in self.heldout]
            right = np.einsum("ij,ij->i", *queries)
            for portions in candidates:
                among += len(portions[0])
                # A source is searched for among targets, and vice versa.
                for direction, (query, portion) in enumerate(zip(queries, reversed(portions), strict=True)):
                    best = (query @ _unit(portion).T).max(axis=1, initial=-1.0)
                    wrong[direction] |= best > right + _ROUNDING
            per_pair = 100 * wrong.mean(axis=0)
            rate = float(per_pair.mean())
            error = float(per_pair.std()) / len(per_pair) ** 0.5
            variance += (self.weights["heldout"] * error) ** 2
            retrieval = {
                "error": round(rate, 4),
                "standard_error": round(error, 4),
                "items": len(per_pair),
                "candidates": among,
                "weight": self.weights["heldout"],
            }
        return {
            "score": round(self._total(values, rate), 4),
            "standard_error": round(variance**0.5, 4),
            "sets": parts,
            "retrieval": retrieval,
        }

    def _total(self, values: Sequence[float | None], error: float | None) -> float:
        weights = [one.weight for one in self.sets]
        total = sum(weight * (value or 0.0) for weight, value in zip(weights, values, strict=True)) / (
            sum(weights) or 1
        )
        return total - self.weights["heldout"] * (error or 0.0)

    def _wrong(self, scorer: Scorer) -> npt.NDArray[np.bool_]:
        """Which held-out sentences are mistaken for another held-out one, bool (2, pairs)."""
        assert self.heldout is not None
        source, target = self.heldout
        cross = scorer.cross(source, target)
        return np.stack([_mistaken(cross, target), _mistaken(cross.T, source)])


@dataclass(frozen=True)
class DevelopmentFiles:
    """The files of a validation set, as the block ``development`` names them.

    Attributes:
        sts, archive: as for :meth:`Development.load`.
        heldout: the pairs that were held out of the corpora, a mixed pair file; None without them.
        sets: of each further set its name, a file as of ``sts``, its metric and its weight.
        weights: as for :class:`Development`.
    """

    sts: str | Path | None = None
    heldout: Path | None = None
    archive: Path | str | None = None
    sets: Sequence[tuple[str, Path, str, float]] = ()
    weights: Mapping[str, float] = field(default_factory=lambda: EQUAL)

    @classmethod
    def configured(cls, inputs: Any, block: Mapping[str, Any]) -> DevelopmentFiles:
        """The files of a rule's inputs ``sts``, ``heldout``, ``archive`` and ``sets``, as the block describes them."""
        heldout = inputs.get("heldout")
        files = map(Path, inputs.get("sets", ()))
        return cls(
            inputs.get("sts", block["sts"]),
            heldout and Path(heldout),
            inputs.get("archive"),
            [
                (name, file, entry["metric"], entry["weight"])
                for (name, entry), file in zip(block["sets"].items(), files, strict=True)
            ],
            block["weights"],
        )

    def load(self) -> Development | None:
        """Read them; None without any.

        Raises:
            DataError: no pairs were held out, or a file cannot be read.
        """
        if self.heldout and not self.heldout.stat().st_size:
            raise DataError(
                "holds no pair: at most a tenth of the pairs is held out, and there are too few; add corpora, loosen "
                "what drops their pairs, or write `development: {heldout: 0}`",
                self.heldout,
            )
        return self.read() if self.sts or self.heldout or self.sets else None

    def read(self) -> Development:
        """As :meth:`load`, but there must be some."""
        return Development(
            None if self.sts is None else read_development(self.sts, self.archive),
            None if self.heldout is None else read_pairs(self.heldout),
            sets=[JudgedSet(name, read_file(file, name), metric, weight) for name, file, metric, weight in self.sets],
            weights=self.weights,
        )


def _mistaken(similarity: np.ndarray, texts: list[str]) -> npt.NDArray[np.bool_]:
    """Which queries retrieve a wrong text, bool (queries,); ties go to the first one."""
    nearest = np.argmax(similarity, axis=1)
    return np.array([texts[one] != texts[right] for right, one in enumerate(nearest)], np.bool_)


def _unit(vectors: Floats | Vectors) -> Vectors:
    return unit(np.asarray(vectors, np.float64)).astype(np.float32)
