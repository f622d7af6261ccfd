"""The validation score, by which training selects a model without touching any test set.

It is Pearson x 100 on SemEval-2017's English track (as in the paper; or on the user's own file) minus the retrieval
error in % on the held-out slice of the training corpora. For a model without English it is the latter alone, unless the
user has STS pairs in its languages (the other tracks of SemEval-2017, in Arabic, Spanish and Turkish, are test sets).
The STS part alone, 250 pairs, is a weak criterion. The STS Benchmark's dev set is part of STS 2012 to 2016, so
selecting on it would leak those tests.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from psp.core.errors import ConfigError, DataError
from psp.evaluation.metrics import count_errors, no_correlation
from psp.evaluation.scorers import Scorer
from psp.evaluation.testsets import StsSet, read_development
from psp.pairs.pair_file import read_pairs


class Development:
    """A validation set: scored STS pairs, held-out translation pairs, or both.

    Raises:
        ConfigError: neither is given.
    """

    def __init__(self, sts: StsSet | None, heldout: tuple[list[str], list[str]] | None) -> None:
        if sts is None and heldout is None:
            raise ConfigError("no data to select a model by; give a development STS set, a held-out slice, or both")
        self.sts, self.heldout = sts, heldout

    def __str__(self) -> str:
        sts = [] if self.sts is None else [f"{len(self.sts):,} STS pairs ({self.sts.name})"]
        heldout = [] if self.heldout is None else [f"{len(self.heldout[0]):,} pairs held out of the corpora"]
        return " and ".join(sts + heldout)

    @property
    def sha256(self) -> str:
        """Hash of all its texts and scores."""
        sts = self.sts and [list(self.sts.a), list(self.sts.b), [float(score) for score in self.sts.gold]]
        return hashlib.sha256(json.dumps([sts, self.heldout]).encode()).hexdigest()

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
        data = None if sts is None else read_development(sts, archive)
        return cls(data, None if heldout is None else read_pairs(heldout))

    def score(self, scorer: Scorer, heldout_scorer: Scorer | None = None) -> dict[str, Any]:
        """Evaluate a system.

        Returns ``score`` (``pearson`` minus ``error``, of the parts available; higher is better), ``pearson`` (times
        100; None without an STS set or if undefined, counting as 0), ``error`` (mean retrieval error in % of both
        directions, or None), ``pairs_sts`` and ``pairs_heldout``.

        ``heldout_scorer`` scores the held-out text, if ``scorer`` would prepare it a second time (its Chinese is
        already segmented); the default is ``scorer``.

        A held-out sentence counts as found if the neighbour's text equals the right one: short sentences occur many
        times there, unlike in Tatoeba's sets, and no model could tell them apart.
        """
        total, pearson, error = 0.0, None, None
        if self.sts is not None:
            similarity = scorer.pairwise(self.sts.a, self.sts.b)
            if no_correlation(similarity, self.sts.gold) is None:
                from scipy import stats  # not at Snakemake's every start: it takes half a second

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


@dataclass(frozen=True)
class DevelopmentFiles:
    """The files of a validation set, as the block ``development`` names them.

    Attributes:
        sts, archive: as for :meth:`Development.load`.
        heldout: the pairs that were held out of the corpora, a mixed pair file; None without them.
    """

    sts: str | Path | None = None
    heldout: Path | None = None
    archive: Path | str | None = None

    @classmethod
    def configured(cls, inputs: Any, block: Mapping[str, Any]) -> DevelopmentFiles:
        """Those of a rule's inputs ``sts``, ``heldout`` and ``archive``; the block names a published set."""
        heldout = inputs.get("heldout")
        return cls(inputs.get("sts", block["sts"]), heldout and Path(heldout), inputs.get("archive"))

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
        return Development.load(self.sts, self.heldout, self.archive) if self.sts or self.heldout else None


def _rate(similarity: np.ndarray, texts: list[str]) -> float:
    errors, duplicates, queries = count_errors(similarity, texts)
    return (errors - duplicates) / queries
