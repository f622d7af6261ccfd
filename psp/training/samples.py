"""Short training runs on samples of a model's pairs, equal in everything else, scored on development data.

The paper "ParaNMT-50M" compares corpora (its table 4) and deciles of one (table 5) like this: the same number of pairs
of each, several encoders. A point is one sample, encoder and seed; :mod:`psp.training.deciles` and
:mod:`psp.training.by_corpus` gather them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from psp.core.files import folder_beside, write_json
from psp.core.settings import Setting, choice, integer, list_of
from psp.evaluation.seeds import summary
from psp.pairs.samples import first_pairs, sample_size
from psp.text.tokenizer_kinds import kinds, studied
from psp.training.encoders.kinds import with_settings
from psp.training.validated import validated

if TYPE_CHECKING:
    from psp.training.loop import Training


class SeedSummary(TypedDict):
    """A score by seed."""

    values: list[float]  # the score of each seed
    mean: float  # their mean
    deviation: float | None  # their sample standard deviation; null for one seed


class SampleScores(TypedDict):
    """Scores of the trainings on a sample of pairs."""

    pairs: int  # distinct pairs that there are
    figures: dict[str, SeedSummary]  # Pearson x 100 by encoder
    mean: SeedSummary  # the mean over the encoders


class StudyReport(TypedDict):
    """Trainings on samples of one size."""

    format: int
    model: str
    pairs: int  # pairs that each training has
    epochs: int  # passes over these pairs
    seeds: list[int]  # the training seeds
    encoders: list[str]  # the encoders
    development: str  # the STS set that all are scored on, development data


#: Where a point's training is: results/<model>/samples/<study>/<sample>/<encoder>/<seed>/train.json.
Points = Mapping[str, Mapping[str, Mapping[int, Path | str]]]

#: The settings of each study.
DECLARED: Mapping[str, Setting] = {
    "encoders": list_of(
        studied(),
        items=choice(options=[*kinds(), *with_settings()]),
        at_least=1,
        distinct=True,
        help="the encoders to train, each with one vocabulary, from all pairs of the model",
    ),
    "pairs": integer(
        None,
        at_least=2,
        null=True,
        help="pairs of each to train on, chosen at random; null: as many as the smallest has",
    ),
    "epochs": integer(10, at_least=1, recipes={"paranmt": 1}, help="passes over these pairs"),
    "seeds": list_of(
        [1, 2, 3],
        items={"type": "integer", "minimum": 0},
        at_least=1,
        distinct=True,
        help="training seeds; the sample is the same for all",
    ),
}


def train_sample(job: Training, pairs: int) -> Mapping[str, Any]:
    """Train on the first pairs of a sample.

    Args:
        job: the training on the file of the whole sample.
        pairs: how many.

    Raises:
        DataError: the sample has fewer pairs.
        PspError: as :meth:`psp.training.loop.Training.run`.
    """
    with folder_beside(job.train_dir / "pairs") as folder:
        first_pairs(job.store, folder / "pairs.tsv", pairs)
        return replace(job, store=folder / "pairs.tsv").run()


def compare(
    points: Points,
    there: Mapping[str, int],
    out: Path,
    of: Callable[[Mapping[str, Mapping[str, Any]]], Mapping[str, Any]],
    *,
    block: str,
    model: str,
    settings: Mapping[str, Any],
    development: str,
) -> Any:
    """Write a study's JSON from the validation scores of all points; return its content.

    Args:
        points: the train.json of each sample, encoder and seed.
        there: the number of pairs of each sample.
        out: the JSON.
        of: what the study itself says, given for each sample its ``pairs``, ``figures`` by encoder and their ``mean``,
            summaries over the seeds (:func:`psp.evaluation.seeds.summary`).
        block: the study's block of the config, for errors.
        model: the model's name.
        settings: the content of that block.
        development: the name of the development STS set.

    Raises:
        DataError: a report is missing, has no score, or belongs to another training run; or as
            :func:`psp.pairs.samples.sample_size`.
    """
    pairs = sample_size(there, settings["pairs"], f"models.{model}.{block}")
    wanted = {"epochs": settings["epochs"], "store_pairs": pairs}
    samples = {name: {"pairs": there[name], **_scores(encoders, wanted)} for name, encoders in points.items()}
    shared = {key: settings[key] for key in ("epochs", "seeds", "encoders")}
    result = {"format": 1, "model": model, "pairs": pairs, **shared, "development": development, **of(samples)}
    write_json(out, result)
    return result


def _scores(encoders: Mapping[str, Mapping[int, Path | str]], wanted: Mapping[str, Any]) -> dict[str, Any]:
    values = {
        encoder: [validated(path, {"seed": seed, **wanted})[1] for seed, path in seeds.items()]
        for encoder, seeds in encoders.items()
    }
    means = [round(sum(row) / len(row), 4) for row in zip(*values.values(), strict=True)]
    return {"figures": {encoder: summary(row) for encoder, row in values.items()}, "mean": summary(means)}


def available(reports: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """The number of pairs of each sample, by its name, from what :mod:`psp.pairs.samples` and deduplication report."""
    counts: dict[str, int] = {}
    for report in reports:
        counts |= {one["name"]: one["pairs"] for one in report["samples"]}
    return counts
