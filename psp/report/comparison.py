"""Shared by tables of several systems: the columns for their scores, and cells for differences."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from psp.report.table import Number
from psp.text.languages import name_of_set
from psp.text.published_sets import own_name

#: Score -> column heading, and number format.
COLUMNS = {
    "sts": ("STS 2012-16", "{:.2f}"),
    "sts/spearman": ("Spearman", "{:.2f}"),
    "stsb/dev": ("STS-B dev", "{:.2f}"),
    "stsb/test": ("STS-B test", "{:.2f}"),
    "stsb/test/spearman": ("STS-B test, Spearman", "{:.2f}"),
    "semeval2017/": ("2017 {}", "{:.2f}"),
    "files/": ("{}", "{:.2f}"),
    "tatoeba": ("Tatoeba error %", "{:.2f}"),
    "tatoeba/": ("{}", "{:.2f}"),
    "development/score": ("dev score", "{:.2f}"),
    "development/pearson": ("dev Pearson", "{:.2f}"),
    "development/error": ("dev error %", "{:.2f}"),
    "pairs_seen": ("pairs seen", "{:,.0f}"),
    "seconds": ("training, s", "{:,.0f}"),
    "pairs_per_second": ("pairs/s", "{:,.0f}"),
}


#: Scores for which lower is better.
_ERRORS = ("tatoeba", "tatoeba/", "development/error")


def is_error(name: str) -> bool:
    """Whether lower is better for a score of a comparison."""
    return name.startswith(_ERRORS)


def columns(
    names: Sequence[str], leave_out: Sequence[str] = (), *, means: bool = False, body: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, str, str]]:
    """Yield score, heading and format of each column; Tatoeba by language, or by direction if there is only one.

    Args:
        names: the scores that there are, as in :func:`psp.models.scores.compared_metrics`.
        leave_out: keys of :data:`COLUMNS` to leave out.
        means: for a single language, also the mean of both directions.
        body: eval.json or a system of compare.json, which says which sets are not the published ones; their columns
            are marked.
    """
    for name, head, written in _columns(names, leave_out, means=means):
        own = None if body is None or name.startswith("files/") else own_name(body, name)
        kind = ", error %" * (name == "tatoeba") + ", Spearman" * name.endswith("/spearman")
        yield name, head if own is None else f"{own}{kind}", written


def _columns(names: Sequence[str], leave_out: Sequence[str], *, means: bool) -> Iterator[tuple[str, str, str]]:
    languages = [name for name in names if name.startswith("tatoeba/") and "-" not in name]
    directions = [name for name in names if name.startswith("tatoeba/") and "-" in name]
    for name, (head, written) in COLUMNS.items():
        if name in leave_out or (name == "tatoeba" and len(languages) == 1):
            continue
        if name == "tatoeba/":
            alone = [*(languages if means else ()), *directions]
            for figure in alone if len(languages) == 1 else languages:
                yield figure, name_of_set(figure.removeprefix(name)), written
        elif name.endswith("/"):
            for figure in names:
                if figure.startswith(name) and not figure.endswith("/spearman"):
                    yield figure, head.format(figure.removeprefix(name)), written
        elif name in names:
            yield name, head, written


def difference(measured: Mapping[str, Any] | None, written: str = "{:.1f}", *, is_error: bool) -> Number:
    """A difference with its interval, such as ``-5.3 [-6.2, -4.4]``, and whether it is an improvement."""
    if measured is None:
        return Number(None)
    better = judged(measured, is_error=is_error)
    return Number(measured["difference"], measured["interval"], None, written, better, sign=True)


def judged(difference: Mapping[str, Any] | None, *, is_error: bool) -> int:
    """Whether a system is better (1) or worse (-1) than the model by its interval; 0 if it contains 0 or is unknown."""
    if (
        difference is None
        or difference["interval"] is None
        or difference["interval"][0] <= 0 <= difference["interval"][1]
    ):
        return 0
    return -1 if (difference["interval"][0] > 0) == is_error else 1
