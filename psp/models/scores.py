"""The scores of eval.json as one list, for all that shows them to others: the card, its metadata, the Hub's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from psp.models.hub_sets import SETS, HubSet
from psp.text.published_sets import is_published, own_name

#: Each kind of score as people read it.
PEARSON, SPEARMAN, ERROR = "Pearson", "Spearman", "error, %"
#: The same in the Hub's metadata.
METRICS = {PEARSON: "pearsonr", SPEARMAN: "spearmanr", ERROR: "error_rate"}


class Score(NamedTuple):
    """One score."""

    part: str
    """The part of eval.json: ``sts``, ``semeval2017``, ``stsb``, ``files``, ``tatoeba`` or ``train``."""
    set: str
    """The test set there, such as ``2012`` or ``fra-eng``."""
    test: str
    """The test set in words; with ``(dev)`` if models are chosen by it."""
    kind: str
    pairs: int
    value: float
    interval: list[float] | None
    development: bool = False
    published: bool = True
    """Whether the set's sentences are the published ones, all of them."""

    @property
    def on_the_hub(self) -> HubSet | None:
        """The test set on the Hub, if its main score is this one, over the same pairs."""
        known = SETS.get(f"{self.part}.{self.set}")
        same = known and self.published and self.kind == SPEARMAN and self.pairs == known.pairs and not self.development
        return known if same else None


def scores(evaluation: Mapping[str, Any]) -> Iterator[Score]:
    """The scores of eval.json, or of an entry of quantized.json, that have a value, in its order.

    For a year of STS, Pearson is the mean over its data sets, Spearman that of all their pairs together (2013 without
    SMT), as in the paper.
    """

    def score(part: str, name: str, test: str, kind: str, pairs: int, value: float, interval: Any) -> Score:
        figure = f"{part}/{name}" + "/spearman" * (part == "sts" and kind == SPEARMAN)
        own = None if part == "files" else own_name(evaluation, figure)
        return Score(part, name, own or test, kind, pairs, value, interval, published=is_published(evaluation, figure))

    for year, figures in evaluation["sts"].items():
        test = "STS 2012-2016, mean of the years" if year == "average" else f"STS {year}"
        for kind, key, count in (
            (PEARSON, "pearson_mean", "pairs"),
            (SPEARMAN, "spearman_concatenated", "pairs_concatenated"),
        ):
            if figures[key] is not None:
                yield score("sts", year, test, kind, figures[count], figures[key], figures[f"{key}_interval"])
    for part, title in (("semeval2017", "SemEval-2017 {}"), ("stsb", "STS Benchmark {}"), ("files", "{}")):
        for name, figures in evaluation[part].items():
            development = bool(figures.get("development"))
            for kind in (PEARSON, SPEARMAN):
                if (value := figures[kind.lower()]) is not None:
                    interval = figures[f"{kind.lower()}_interval"]
                    found = score(part, name, title.replace("{}", name), kind, figures["pairs"], value, interval)
                    yield found._replace(test=found.test + " (dev)" * development, development=development)
    for directions in evaluation["tatoeba"].values():
        for direction, figures in directions.items():
            test = f"Tatoeba {direction}"
            yield score("tatoeba", direction, test, ERROR, figures["pairs"], figures["error"], figures["interval"])
    best = (evaluation.get("train") or {}).get("best")
    if best and best["error"] is not None:
        test = "pairs held out of the training data (dev)"
        yield Score("train", "heldout", test, ERROR, best["pairs_heldout"], best["error"], None, True)


def rounded(value: float) -> float:
    """A score for others to quote, to 2 places: intervals are some tenths wide at best."""
    return round(value, 2)


def eval_results(evaluation: Mapping[str, Any], note: str) -> dict[str, list[dict[str, Any]]]:
    """The scores that the Hub may show beside those of other models, by the file that they go into.

    Each file is a list of huggingface_hub's ``EvalResultEntry``, as ``eval_result_entries_to_yaml`` has them, named
    after its task as mteb does.

    Args:
        note: how the scores were computed.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    for score in scores(evaluation):
        if known := score.on_the_hub:
            dataset = {"id": known.dataset, "task_id": known.task_id, "revision": known.revision}
            entry = {"dataset": dataset, "value": rounded(score.value), "notes": note}
            found.setdefault(f".eval_results/{known.task}.yaml", []).append(entry)
    return found


def model_index(name: str, evaluation: Mapping[str, Any]) -> list[dict[str, Any]]:
    """All scores as the Hub's ``model-index``; empty without any."""
    results: dict[tuple[str, ...], dict[str, Any]] = {}
    for score in scores(evaluation):
        # A year's two scores are of different sets: of each data set, and of all their pairs.
        of = (score.part, score.set, score.kind * (score.part == "sts"))
        result = results.setdefault(
            of,
            {
                "task": {"type": "sentence-similarity" if score.kind != ERROR else "translation-retrieval"},
                "dataset": _dataset(score),
                "metrics": [],
            },
        )
        if score.on_the_hub:
            result["dataset"] = _dataset(score)
        result["metrics"].append({"type": METRICS[score.kind], "name": score.kind, "value": rounded(score.value)})
    return [{"name": name, "results": list(results.values())}] if results else []


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
    return {"type": f"{own}{score.part}.{score.set}", "name": score.test}
