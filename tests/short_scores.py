"""Evaluations written shortly, for tests: the scores of each family of test sets, as tables of papers have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from psp.text.languages import name_of_set

_FAMILIES = ("sts", "semeval2017", "stsb", "files", "tatoeba")


def in_full(body: Mapping[str, Any]) -> dict[str, Any]:
    """An evaluation by ``sts``, ``semeval2017``, ``stsb``, ``files`` and ``tatoeba``, as eval.json has it."""
    tasks = {task: {"parts": parts} for task, parts in _parts(body).items() if parts}
    return {**{key: value for key, value in body.items() if key not in _FAMILIES}, "tasks": tasks}


def _parts(body: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    parts: dict[str, dict[str, Any]] = {
        "sts": {year: _year(year, scores) for year, scores in body.get("sts", {}).items()}
    }
    for task, title in (("semeval2017", "SemEval-2017 {}"), ("stsb", "STS Benchmark {}"), ("files", "{}")):
        parts[task] = {}
        for name, scores in body.get(task, {}).items():
            test = title.replace("{}", name)
            further = {key: scores[key] for key in ("in_stsb", "in_semeval2017_en") if key in scores}
            development = bool(scores.get("development"))
            parts[task][name] = {
                "items": scores.get("pairs", 0), "figures": _pair(scores), "further": further,
                "development": development, "test": test + " (dev)" * development,
            }  # fmt: skip
            if rest := scores.get("without_semeval2017_en"):
                parts[task][f"{name}-without-semeval2017-en"] = {
                    "items": rest.get("pairs", 0), "figures": _pair(rest), "further": {}, "detail": True,
                    "test": f"{test}, without SemEval-2017 en",
                }  # fmt: skip
    parts["tatoeba"] = _tatoeba(body.get("tatoeba", {}))
    return parts


def _figure(scores: Mapping[str, Any], key: str, label: str, **own: Any) -> dict[str, Any]:
    error = key == "error"
    why = {"why": scores.get(f"{key}_why", scores.get("why"))} if scores.get(key) is None else {}
    interval = scores.get("interval" if error else f"{key}_interval")
    unit = "%" if error else "correlation x 100"
    return {
        "value": scores.get(key), "interval": interval, **why, **own, "label": label, "unit": unit,
        "higher_is_better": not error,
    }  # fmt: skip


def _pair(scores: Mapping[str, Any]) -> dict[str, Any]:
    return {"pearson": _figure(scores, "pearson", "Pearson"), "spearman": _figure(scores, "spearman", "Spearman")}


def _year(year: str, scores: Mapping[str, Any]) -> dict[str, Any]:
    rest = {"items": scores.get("pairs_concatenated", 0)}
    figures = {"pearson": _figure(scores, "pearson_mean", "mean Pearson")}
    if "pearson_mean_without_smt" in scores:
        figures["pearson_without_smt"] = _figure(
            scores, "pearson_mean_without_smt", "the same, no SMT", compared=False, **rest
        )
    figures["spearman"] = _figure(scores, "spearman_concatenated", "Spearman, all pairs", **rest)
    further = {key: scores[key] for key in ("sets", "years") if key in scores}
    whole = year == "average"
    years = scores.get("years") or ["2012", "2016"]
    test = f"STS {'-'.join(dict.fromkeys([years[0], years[-1]]))}, average" if whole else f"STS {year}"
    return {"items": scores.get("pairs", 0), "figures": figures, "further": further, "test": test, "detail": not whole}


def _tatoeba(languages: Mapping[str, Any]) -> dict[str, Any]:
    parts: dict[str, Any] = {}
    means: dict[str, float] = {}

    def mean(values: Sequence[float], of: Sequence[str], test: str) -> float:
        value = sum(values) / len(values)
        error = {"error": round(value, 4), "interval": None}
        items = sum(parts[part]["items"] for part in of)
        figures = {"error": _figure(error, "error", "error %")}
        parts[of_part] = {"items": items, "figures": figures, "mean_of": list(of), "test": test, "further": {}}
        return value

    for iso3, directions in languages.items():
        for direction, scores in directions.items():
            parts[direction] = {
                "items": scores.get("pairs", 0), "figures": {"error": _figure(scores, "error", "error %")},
                "further": {key: scores.get(key, 0) for key in ("errors", "duplicates")},
                "test": f"Tatoeba {direction} ({name_of_set(iso3)})",
            }  # fmt: skip
    for iso3, directions in languages.items():
        of_part = iso3
        errors = [scores["error"] for scores in directions.values()]
        means[iso3] = mean(errors, list(directions), f"Tatoeba, {name_of_set(iso3)}, both directions")
    if means:
        of_part = "mean"
        mean(list(means.values()), list(means), "Tatoeba, mean of the languages")
    return parts
