"""eval.json as a table: each score with its interval."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from psp.report.layout import layout
from psp.text.languages import name_of_set
from psp.text.published_sets import own_name, same_domain

Body = Mapping[str, Any]

#: Key of a score -> its name in the table.
_FIGURES = {
    "pearson_mean": "mean Pearson",
    "pearson_mean_without_smt": "the same, no SMT",
    "spearman_concatenated": "Spearman, all pairs",
    "pearson": "Pearson",
    "spearman": "Spearman",
    "error": "error %",
}
#: Scores over a year's pairs without 2013's SMT.
_WITHOUT_SMT = ("pearson_mean_without_smt", "spearman_concatenated")
#: Path in eval.json to the validation score of the selected model.
_HELDOUT = ("train", "best")


def table(evaluation: Body, form: str = "text") -> str:
    """Lay out eval.json.

    Each score has its 95% interval and the number of pairs; a missing score is ``-``. Data for model selection is
    marked ``dev``: the English track of SemEval-2017, and the retrieval error on the held-out pairs of the training
    corpora (mean of both directions, without an interval). Skipped sets are listed below.
    """
    rows = [["test", "figure", "pairs", str(evaluation.get("model", "model"))]]
    rows += [[row.test, row.figure, f"{row.pairs:,}", _cell(row)] for row in scores(evaluation)]
    if len(rows) == 1:
        return "no scores: no test set was given, or none is in the model's languages\n" + _notes(evaluation)
    return layout(rows, form, right=(2,)) + _notes(evaluation)


@dataclass(frozen=True)
class Score:
    """A line of the table.

    Attributes:
        path, key: where it stands in eval.json.
        name: its name in :func:`psp.evaluation.evaluate.compared_figures`, or "" if it is not compared.
        test, figure: as people call them.
        pairs: scored pairs, or queries.
        value, interval: the score; None where it is undefined.
    """

    path: tuple[str, ...]
    key: str
    name: str
    test: str
    figure: str
    pairs: int
    value: float | None
    interval: Sequence[float] | None

    @property
    def short(self) -> str:
        """The test's name where there is little room: a SemEval track by its languages, Tatoeba's sets by direction."""
        if self.path[0] == "tatoeba":
            own = "own set, " if self.test.startswith("own set") else ""
            return own + direction(self.path[-1])
        return re.sub(r"\btrack\d\.", "", self.test)

    @property
    def tested(self) -> str:
        """The name by which :mod:`psp.text.published_sets` knows what it is over."""
        return f"{self.path[0]}/{self.path[-1]}"

    @property
    def is_whole(self) -> bool:
        """Whether it is a score on the whole of a test set, by its first figure."""
        return self.key in ("pearson", "pearson_mean", "error") and self.path[-1] != "without_semeval2017_en"

    @property
    def is_error(self) -> bool:
        """Whether less is better."""
        return self.key == "error"


def direction(key: str) -> str:
    """A direction of Tatoeba in words: ``fra-eng`` is French → English."""
    return " → ".join("English" if iso3 == "eng" else name_of_set(iso3) for iso3 in key.split("-"))


def scores(evaluation: Body) -> Iterator[Score]:
    """Yield the lines of the table, one for each figure of each test; in the order of eval.json."""
    for path, test, key in _rows(evaluation):
        found = _at(evaluation, path)
        pairs = found["pairs_heldout" if path == _HELDOUT else "pairs_concatenated" if key in _WITHOUT_SMT else "pairs"]
        value, interval = score_at(evaluation, path, key)
        yield Score(path, key, _compared(path, key), test, _FIGURES[key], pairs, value, interval)


def score_at(body: Body, path: tuple[str, ...], key: str) -> tuple[float | None, Sequence[float] | None]:
    """A score and its interval in any system's body; None for those that it does not have."""
    figures = _at(body, path)
    return figures.get(key), figures.get("interval" if key == "error" else f"{key}_interval")


def _compared(path: tuple[str, ...], key: str) -> str:
    """The name of a score in :func:`psp.evaluation.evaluate.compared_figures`; "" for those that are not among them."""
    match path:
        case ("sts", "average"):
            return {"pearson_mean": "sts", "spearman_concatenated": "sts/spearman"}.get(key, "")
        case ("semeval2017" | "stsb" | "files", name):
            return f"{path[0]}/{name}" + ("/spearman" if key == "spearman" else "")
        case ("tatoeba", _, direction):
            return f"tatoeba/{direction}"
    return ""


def _rows(body: Body) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """Yield for each row the path of its scores in a body, the test's name, and the key of the score."""
    for year, figures in body["sts"].items():
        known = "STS average" if year == "average" else f"STS {year}"
        test = own_name(body, f"sts/{year}") or known
        yield ("sts", year), test, "pearson_mean"
        if "pearson_mean_without_smt" in figures:
            yield ("sts", year), test, "pearson_mean_without_smt"
        yield ("sts", year), test, "spearman_concatenated"
    for part, title in (("semeval2017", "SemEval-2017 {}"), ("stsb", "STS Benchmark {}"), ("files", "{}")):
        for name, figures in body[part].items():
            known = title.format(name)
            test = known if part == "files" else own_name(body, f"{part}/{name}") or known
            test += " (dev)" if figures.get("development") else ""
            yield (part, name), test, "pearson"
            yield (part, name), test, "spearman"
            if "without_semeval2017_en" in figures:
                for key in ("pearson", "spearman"):
                    yield (part, name, "without_semeval2017_en"), f"{test}, without SemEval-2017 en", key
    for iso3, directions in body["tatoeba"].items():
        for direction in directions:
            test = own_name(body, f"tatoeba/{direction}") or f"Tatoeba {direction}"
            yield ("tatoeba", iso3, direction), f"{test} ({name_of_set(iso3)})", "error"
    if heldout(body) is not None:
        yield _HELDOUT, "held-out pairs (dev)", "error"


def heldout(body: Body) -> Body | None:
    """Return the selected model's validation on held-out pairs (``error``, ``pairs_heldout``), if there are any."""
    best = _at(body, _HELDOUT)
    return best if best and best["error"] is not None else None


def _at(body: Body, path: tuple[str, ...]) -> Body:
    for key in path:
        body = body.get(key) or {}
    return body


def _cell(row: Score) -> str:
    if row.value is None:
        return "-"
    return (
        f"{row.value:.1f}"
        if row.interval is None
        else f"{row.value:.1f} [{row.interval[0]:.1f}, {row.interval[1]:.1f}]"
    )


def _notes(body: Body) -> str:
    conditions = body["conditions"]
    lines = [
        "",
        "Correlations x 100. In brackets: 95% intervals (correlations: bootstrap over pairs, "
        f"{conditions['resamples']:,} resamples; errors: Wilson).",
    ]
    if any(figures.get("development") for figures in body["semeval2017"].values()):
        lines.append("dev: used for model selection, so not a test set; most other tracks are translations of it.")
    shared = {name: figures.get("in_semeval2017_en", 0) for name, figures in body["stsb"].items()}
    if any(shared.values()):
        counts = " and ".join(f"{count} of {name}" for name, count in shared.items())
        lines.append(f"STS Benchmark: {counts} are pairs of SemEval-2017's English track, used for model selection.")
    if heldout(body) is not None:
        lines.append("held-out pairs (dev): from the training corpora, not trained on; used for model selection.")
    if any(own_name(body, figure) for figure in body.get("sets", {}) if not figure.startswith("files/")):
        lines.append("own set: in the place of a published test set, but with other sentences.")
    if said := same_domain(body):
        lines.append(said)
    lines += [f"skipped: {one['set']}: {one['why']}" for one in body["skipped"]]
    return "\n".join(lines) + "\n"
