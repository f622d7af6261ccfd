"""The development score: what training chooses a model by, touching no test set.

It is Pearson x 100 on SemEval-2017's English track (as in the paper; or on the user's own file) minus the retrieval
error in % on the held-out slice of the training corpora; of a model without English, the latter alone, unless the user
has STS pairs in its languages (the other tracks of SemEval-2017, in Arabic, Spanish and Turkish, are tests). The STS
part alone is a weak selector (250 pairs), and the STS Benchmark's dev set is part of STS 2012 to 2016, so that choosing
on it would touch those tests.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from psp.errors import ConfigError, DataError
from psp.evaluation.scorers import Scorer
from psp.evaluation.sts import no_correlation
from psp.evaluation.tatoeba import count_errors
from psp.testsets import StsSet, read_development
from psp.text import read_lines


class Development:
    """A development set: scored STS pairs, held-out translation pairs, or both.

    Raises:
        ConfigError: neither is given, so that nothing could be chosen by it.
    """

    def __init__(self, sts: StsSet | None, heldout: tuple[list[str], list[str]] | None) -> None:
        if sts is None and heldout is None:
            raise ConfigError(
                "there is nothing to choose a model by: give a development STS set, a held-out slice, or both"
            )
        self.sts, self.heldout = sts, heldout

    def __str__(self) -> str:
        sts = [] if self.sts is None else [f"{len(self.sts):,} STS pairs ({self.sts.name})"]
        heldout = [] if self.heldout is None else [f"{len(self.heldout[0]):,} pairs held out of the corpora"]
        return " and ".join(sts + heldout)

    @property
    def sha256(self) -> str:
        """A hash of all its texts and scores."""
        sts = self.sts and [list(self.sts.a), list(self.sts.b), [float(score) for score in self.sts.gold]]
        return hashlib.sha256(json.dumps([sts, self.heldout]).encode()).hexdigest()

    @classmethod
    def load(cls, sts: str | Path | None, heldout: Path | str | None, archive: Path | str | None = None) -> Development:
        r"""Read a development set.

        Args:
            sts: ``"semeval2017-en"`` (read from ``archive``), or a file of ``score \t sentence \t sentence``, or None.
            heldout: a pair file (``source \t target``, with or without the corpus column), lower-cased and segmented
                as for training; or None.
            archive: the STS archive or folder.

        Raises:
            DataError: a file is missing or malformed, or the archive has no English track.
            ConfigError: nothing to choose by, or ``"semeval2017-en"`` without an archive.
        """
        data = None if sts is None else read_development(sts, archive)
        return cls(data, None if heldout is None else read_pairs(heldout))

    def score(self, scorer: Scorer, heldout_scorer: Scorer | None = None) -> dict[str, Any]:
        """Evaluate a system.

        Returns ``score`` (``pearson`` less ``error``, of the parts that there are; larger is better), ``pearson``
        (times 100; None without an STS set, or where there is no correlation: it then counts as 0), ``error`` (mean
        retrieval error in % of both directions, or None), ``pairs_sts`` and ``pairs_heldout``.

        ``heldout_scorer`` is for the held-out text where that must not go through ``scorer``'s own preparation again
        (its Chinese is already segmented); the default is ``scorer``.

        A sentence of the held-out slice counts as found where the neighbour's text equals the right one: short
        sentences occur many times there, which Tatoeba's sets exclude, and no model could tell them apart.
        """
        total, pearson, error = 0.0, None, None
        if self.sts is not None:
            similarity = scorer.pairwise(self.sts.a, self.sts.b)
            if no_correlation(similarity, self.sts.gold) is None:
                pearson = round(100 * float(stats.pearsonr(similarity, self.sts.gold).statistic), 4)
                total += pearson
        if self.heldout is not None:
            source, target = self.heldout
            cross = (heldout_scorer or scorer).cross(source, target)
            rates = [_rate(cross, target), _rate(cross.T, source)]
            error = round(100 * sum(rates) / 2, 4)
            total -= error
        return {
            "score": round(total, 4),
            "pearson": pearson,
            "error": error,
            "pairs_sts": 0 if self.sts is None else len(self.sts),
            "pairs_heldout": 0 if self.heldout is None else len(self.heldout[0]),
        }


def _rate(similarity: np.ndarray, texts: list[str]) -> float:
    errors, duplicates, queries = count_errors(similarity, texts)
    return (errors - duplicates) / queries


def read_pairs(path: Path | str) -> tuple[list[str], list[str]]:
    """Both sides of a pair file or mixed pair file.

    Raises:
        DataError: no such file, no pairs, or a line without two or three columns.
    """
    source, target = [], []
    try:
        with Path(path).open("rb") as stream:
            for number, line in enumerate(read_lines(stream, path), start=1):
                columns = line.split("\t")
                if len(columns) not in (2, 3):
                    raise DataError(f"{len(columns)} columns instead of 2 or 3: source, target, corpus", path, number)
                source.append(columns[0])
                target.append(columns[1])
    except OSError as error:
        raise DataError(f"cannot be read: {error.strerror}", path) from None
    if not source:
        raise DataError("no pairs", path)
    return source, target
