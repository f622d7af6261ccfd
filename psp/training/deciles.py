"""Find which deciles of a model's pairs are worth training on: ``results/<model>/tenths.json``.

The paper "ParaNMT-50M" does this in its table 5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from psp.core import schemas
from psp.core.files import read_json, write_json
from psp.core.settings import Section, choice, list_of
from psp.pairs.rank import BY
from psp.pairs.samples import sample_size
from psp.training.samples import DECLARED, Points, available, conditions, scores

if TYPE_CHECKING:
    from psp.core.schemas.training import DecilesReport

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


def gather(
    points: Points,
    reports: Mapping[str, Path | str],
    out: Path,
    *,
    model: str,
    settings: Mapping[str, Any],
    development: str,
) -> DecilesReport:
    """Write tenths.json; return its content.

    Args:
        points: the train.json of each sample (``all``, ``score-1`` ...), encoder and seed.
        reports: the reports of the samples, by ``all`` and what ranks.
        out: tenths.json.
        settings: the block ``deciles``.
        development: the name of the development STS set.

    Raises:
        DataError: as :func:`psp.training.samples.scores` and :func:`psp.pairs.samples.sample_size`.
    """
    samples = {name: read_json(path) for name, path in reports.items()}
    there = available(samples.values())
    pairs = sample_size(there, settings["pairs"], f"models.{model}.deciles")
    by_name = scores(points, pairs, settings["epochs"])
    result = {
        **conditions(model, pairs, settings, development),
        "all": {"pairs": there["all"], **by_name["all"]},
        "by": [_ranking(samples[by], there, by_name) for by in settings["by"]],
    }
    write_json(out, result)
    schemas.check_written(result, "tenths", out)
    return cast("DecilesReport", result)


def _ranking(
    report: Mapping[str, Any], there: Mapping[str, int], by_name: Mapping[str, Mapping[str, Any]]
) -> dict[str, Any]:
    names: Sequence[str] = [one["name"] for one in report["samples"]]
    return {
        "by": report["by"],
        "corpora": report["corpora"],
        "tenths": [
            {"tenth": decile, "pairs": there[name], **by_name[name]} for decile, name in enumerate(names, start=1)
        ],
    }
