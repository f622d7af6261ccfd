"""The scores of an evaluation as one list of records, for all code that shows, compares or publishes them.

An evaluation is eval.json, a system of compare.json, or the scores of an entry of quantized.json.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psp.models.hub_sets import SETS, HubSet
from psp.text.languages import name_of_set
from psp.text.published_sets import is_published, own_name

#: Parts that stand for their task as a whole.
WHOLE = ("average", "mean")
#: The formats of eval.json that are read here.
FORMAT = 1
#: Metrics in the Hub's metadata.
METRICS = {"pearson": "pearsonr", "spearman": "spearmanr", "error": "error_rate"}


@dataclass(frozen=True)
class Score:
    """One score.

    Attributes:
        task, part, metric: where it stands, such as ``stsb``, ``test`` and ``spearman``.
        name: as files of comparisons have it, such as ``stsb/test/spearman``.
        test, label: the test set and the metric in words.
        unit: ``correlation x 100`` or ``%``.
        higher_is_better: false for errors.
        items: pairs, or queries.
        value, interval: the score and its 95% interval; None where they are undefined.
        why: why there is no value.
        first: whether it is the first of its part's metrics.
        mean: whether it is the mean over other parts.
        detail: whether it is of a part of another part.
        compared: whether systems are compared by it; if not, it is only shown.
        development: whether models are chosen by it.
        published: whether the set's sentences are the published ones, all of them.
    """

    task: str
    part: str
    metric: str
    name: str
    test: str
    label: str
    unit: str
    higher_is_better: bool
    items: int
    value: float | None
    interval: Sequence[float] | None
    why: str | None = None
    first: bool = True
    mean: bool = False
    detail: bool = False
    compared: bool = True
    development: bool = False
    published: bool = True

    @property
    def main(self) -> bool:
        """Whether it is the main score of a whole test set: not a part of another, and not a mean of others."""
        return self.first and not self.mean and not self.detail

    @property
    def is_whole(self) -> bool:
        """Whether it is the main score of a test set, or of a year of one."""
        return self.first and not self.mean and not (self.detail and "-without-" in self.part)

    @property
    def short(self) -> str:
        """The test's short name: a SemEval track by its languages, Tatoeba's sets by direction."""
        if self.task == "tatoeba":
            own = "own set, " if self.test.startswith("own set") else ""
            return own + direction(self.part)
        return re.sub(r"\btrack\d\.", "", self.test)

    @property
    def on_the_hub(self) -> HubSet | None:
        """The test set on the Hub, if its main score is this one, over the same pairs."""
        known = SETS.get(f"{self.task}.{self.part}")
        same = known and self.published and self.metric == "spearman" and self.items == known.pairs
        return known if same and not self.development else None


def scores(evaluation: Mapping[str, Any]) -> Iterator[Score]:
    """The scores on the sets that every model is evaluated on, in order, undefined ones too."""
    for task, results in tasks_of(evaluation).items():
        for part, of in results["parts"].items():
            if "test" not in of:  # of a task that a config adds
                continue
            own = None if task == "files" else own_name(evaluation, name_of(task, part))
            if own and task == "tatoeba" and "-" in part:
                own += f" ({name_of_set(foreign(part))})"
            if own and of.get("development"):
                own += " (dev)"
            for place, (metric, score) in enumerate(of["figures"].items()):
                name = name_of(task, part, metric if place else "")
                yield Score(
                    task,
                    part,
                    metric,
                    name,
                    own or of["test"],
                    score["label"],
                    score["unit"],
                    score["higher_is_better"],
                    score.get("items", of["items"]),
                    score["value"],
                    score["interval"],
                    score.get("why"),
                    first=not place,
                    mean=bool(of.get("mean_of")),
                    detail=bool(of.get("detail")),
                    compared=not of.get("detail") and score.get("compared", True),
                    development=bool(of.get("development")),
                    published=is_published(evaluation, name),
                )


def heldout(evaluation: Mapping[str, Any]) -> Score | None:
    """The selected model's validation scores on pairs held out of its corpora, if any."""
    best = (evaluation.get("train") or {}).get("best")
    if not best or best["error"] is None:
        return None
    return Score(
        "train", "heldout", "error", "", "held-out pairs (dev)", "error %", "%", False, best["pairs_heldout"],
        best["error"], None, development=True,
    )  # fmt: skip


def direction(key: str) -> str:
    """A direction of Tatoeba in words: ``fra-eng`` is French → English."""
    return " → ".join("English" if iso3 == "eng" else name_of_set(iso3) for iso3 in key.split("-"))


def foreign(direction: str) -> str:
    """The language of a direction of Tatoeba that is not English."""
    return direction.removeprefix("eng-").removesuffix("-eng")


def name_of(task: str, part: str, metric: str = "") -> str:
    """A score's name in comparisons: its task, its part unless that is the whole, its metric unless it is the first."""
    return "/".join(filter(None, [task, "" if part in WHOLE else part, metric]))


def main_metrics(evaluation: Mapping[str, Any]) -> dict[str, float | None]:
    """One score per test set, by name; None where it is undefined.

    Names: ``sts`` (mean Pearson over the years), ``semeval2017/<track>``, ``stsb/<part>`` and ``files/<name>``
    (Pearson), ``tatoeba/<direction>`` (error rate).
    """
    return {score.name: score.value for score in scores(evaluation) if score.main}


def by_place(evaluation: Mapping[str, Any]) -> dict[tuple[str, str, str], Score]:
    """All scores, by task, part and metric."""
    return {(score.task, score.part, score.metric): score for score in scores(evaluation)}


def compared_metrics(evaluation: Mapping[str, Any]) -> dict[str, float | None]:
    """The scores that compare systems, by name; None for undefined ones.

    These are the scores of :func:`main_metrics`; ``sts/spearman``, over all pairs of each year, and ``<test>/spearman``
    of each other test of similarity; ``tatoeba/<language>``, the mean error of both directions; and ``tatoeba``, the
    mean over languages.
    """
    return {score.name: score.value for score in scores(evaluation) if score.compared}


def tasks_of(evaluation: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The tasks of an evaluation by name, each with its ``parts``."""
    return dict(evaluation.get("tasks", {}))


def is_of_every_model(task: Mapping[str, Any]) -> bool:
    """Whether a task, one of :func:`tasks_of`, is standard; a config adds the others."""
    return any("test" in part for part in task["parts"].values())


def shown(evaluation: Mapping[str, Any]) -> Iterator[Score]:
    """The scores on a card: those with a value, without means of others and without further subsets."""
    for score in (*scores(evaluation), heldout(evaluation)):
        if score is None or score.value is None or score.metric not in METRICS:
            continue
        if not (score.detail and "-without-" in score.part) and not score.mean:
            yield score


def rounded(value: float) -> float:
    """A score for others to quote, to 2 places: intervals are some tenths wide at best."""
    return round(value, 2)


def eval_results(evaluation: Mapping[str, Any], note: str) -> dict[str, list[dict[str, Any]]]:
    """The scores that the Hub may show beside those of other models, by their file.

    Each file is a list of huggingface_hub's ``EvalResultEntry``, as ``eval_result_entries_to_yaml`` has them, named
    after its task as mteb does.

    Args:
        note: how the scores were computed.
    """
    files: dict[str, list[dict[str, Any]]] = {}
    for score in shown(evaluation):
        if known := score.on_the_hub:
            dataset = {"id": known.dataset, "task_id": known.task_id, "revision": known.revision}
            entry = {"dataset": dataset, "value": rounded(score.value or 0.0), "notes": note}
            files.setdefault(f".eval_results/{known.task}.yaml", []).append(entry)
    return files


def model_index(name: str, evaluation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All scores as the Hub's ``model-index``; empty without any."""
    results: dict[tuple[str, ...], dict[str, Any]] = {}
    for score in shown(evaluation):
        # A year's two scores are of different sets: of each data set, and of all their pairs.
        of = (score.task, score.part, score.metric * (score.task == "sts"))
        kind = "sentence-similarity" if score.higher_is_better else "translation-retrieval"
        result = results.setdefault(of, {"task": {"type": kind}, "dataset": _dataset(score), "metrics": []})
        if score.on_the_hub:
            result["dataset"] = _dataset(score)
        metric = {"type": METRICS[score.metric], "name": kind_of(score), "value": rounded(score.value or 0.0)}
        result["metrics"].append(metric)
    return [{"name": name, "results": list(results.values())}] if results else []


def kind_of(score: Score) -> str:
    """The metric in words, without what it is averaged over."""
    return {"pearson": "Pearson", "spearman": "Spearman", "error": "error, %"}[score.metric]


def _dataset(score: Score) -> dict[str, str]:
    if known := score.on_the_hub:
        return {
            "type": known.dataset,
            "name": score.test,
            "config": known.subset,
            "split": known.split,
            "revision": known.revision,
        }
    own = "own." if score.test.startswith("own set") else ""
    return {"type": f"{own}{score.task}.{score.part}", "name": score.test}
