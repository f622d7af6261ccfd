"""Find which deciles of a model's pairs are worth training on: ``results/<model>/tenths.json``.

The paper "ParaNMT-50M" does this in its table 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

from psp.core.files import read_json
from psp.core.settings import Section, choice, list_of
from psp.pairs.rank import BY
from psp.training.samples import DECLARED, Points, SampleScores, StudyReport, available, compare

if TYPE_CHECKING:
    from psp.pairs.rank import RankedBy
    from psp.pairs.samples import SampleCorpus


class Decile(SampleScores):
    tenth: int  # its number; 1 has the lowest values


class DecilesRanking(TypedDict):
    by: RankedBy
    corpora: list[SampleCorpus]  # the corpora, each ranked by itself; empty without a ranking
    tenths: list[Decile]  # the deciles, the lowest values first


class DecilesReport(StudyReport):
    """Trainings on each decile of a model's pairs by some values, with the same number of pairs, and on all."""

    all: SampleScores  # a random sample of all pairs
    by: list[DecilesRanking]  # the rankings


SECTION = Section(
    "the study results/<model>/tenths.json: each decile of the model's pairs by a value, with the same number of "
    "pairs, scored on the development STS set; trained from scratch, without a teacher or a search for settings",
    {
        "by": list_of(
            ["score", "overlap"],
            items=choice(options=BY),
            at_least=1,
            distinct=True,
            help="the values to rank by, as in the block `rank`",
        ),
        **DECLARED,
    },
    inert=True,
)


def gather(points: Points, reports: Mapping[str, Path | str], out: Path, **about: Any) -> DecilesReport:
    """Write tenths.json; return its content.

    Args:
        points: the train.json of each sample (``all``, ``score-1`` ...), encoder and seed.
        reports: the reports of the samples, by ``all`` and what ranks.
        out: tenths.json.
        about: as for :func:`psp.training.samples.compare`, with its errors.
    """
    read = {name: read_json(path) for name, path in reports.items()}

    def of(samples: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
        return {
            "all": samples["all"],
            "by": [
                {
                    "by": report["by"],
                    "corpora": report["corpora"],
                    "tenths": [
                        {"tenth": n, **samples[one["name"]]} for n, one in enumerate(report["samples"], start=1)
                    ],
                }
                for report in (read[by] for by in about["settings"]["by"])
            ],
        }

    result = compare(points, available(read.values()), out, of, block="deciles", **about)
    return cast("DecilesReport", result)
