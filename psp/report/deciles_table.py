"""tenths.json and by_corpus.json as tables, and the former as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.report import pictures
from psp.report.layout import layout

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The values to rank by, in words.
NAMES = {"score": "score", "overlap": "trigram overlap", "translation": "translation score", "length": "length"}


def deciles(result: Mapping[str, Any], form: str = "text") -> str:
    """Lay out tenths.json, in one of :data:`psp.report.layout.FORMS`: one table for each value to rank by."""
    tables = []
    for ranking in result["by"]:
        rows = [["by " + NAMES[ranking["by"]], "from", "to", "pairs", *result["encoders"], "mean"]]
        for one in ranking["tenths"]:
            rows.append([f"decile {one['tenth']}", *_bounds(ranking, one["tenth"]), f"{one['pairs']:,}", *_cells(one)])
        rows.append(["all", "", "", f"{result['all']['pairs']:,}", *_cells(result["all"])])
        tables.append(layout(rows, form, right=range(1, len(rows[0]))))
    return "\n".join([*tables, _notes(result, form)])


def by_corpus(result: Mapping[str, Any], form: str = "text") -> str:
    """Lay out by_corpus.json, in one of :data:`psp.report.layout.FORMS`, the best corpora first."""
    rows = [["corpus", "pairs", *result["encoders"], "mean"]]
    for one in sorted(result["corpora"], key=lambda one: (-one["mean"]["mean"], one["label"])):
        rows.append([one["label"], f"{one['pairs']:,}", *_cells(one)])
    return f"{layout(rows, form, right=range(1, len(rows[0])))}\n{_notes(result, form)}"


def draw(result: Mapping[str, Any], out: Path) -> None:
    """Draw the score of each decile by encoder, a panel for each value to rank by, as a PNG file.

    Raises:
        DataError: ``out`` cannot be written.
    """

    def make() -> Figure:
        from matplotlib.figure import Figure

        rankings: Sequence[Mapping[str, Any]] = result["by"]
        figure = Figure(figsize=(4.2 * len(rankings) + 0.8, 4), layout="constrained")
        panels = figure.subplots(1, len(rankings), sharey=True, squeeze=False)[0]
        for panel, ranking in zip(panels, rankings, strict=True):
            for number, encoder in enumerate(result["encoders"]):
                points = [one["figures"][encoder] for one in ranking["tenths"]]
                panel.errorbar(
                    [one["tenth"] for one in ranking["tenths"]],
                    [one["mean"] for one in points],
                    yerr=[one["deviation"] or 0 for one in points],
                    color=f"C{number}", marker="o", markersize=3, capsize=2, label=encoder,
                )  # fmt: skip
                panel.axhline(result["all"]["figures"][encoder]["mean"], color=f"C{number}", linestyle=":")
            panel.set_xticks(range(1, 11))
            panel.set_xlabel(f"decile by {NAMES[ranking['by']]}")
        panels[0].set_ylabel(f"Pearson x 100, {result['development']}")
        panels[0].legend(title="dotted: of all deciles")
        figure.suptitle(f"{result['model']}: {result['pairs']:,} pairs of each decile, {result['epochs']} epochs")
        return figure

    pictures.save(make, out)


def _bounds(ranking: Mapping[str, Any], decile: int) -> list[str]:
    """The lowest and the highest value of a decile, over all corpora."""
    bounds = [one["bounds"][decile - 1] for one in ranking["corpora"]]
    lows = [one["low"] for one in bounds if one["low"] is not None]
    highs = [one["high"] for one in bounds if one["high"] is not None]
    return [f"{min(lows):.3g}" if lows else "-", f"{max(highs):.3g}" if highs else "-"]


def _cells(one: Mapping[str, Any]) -> Iterator[str]:
    for figure in (*one["figures"].values(), one["mean"]):
        deviation = "" if figure["deviation"] is None else f" ± {figure['deviation']:.1f}"
        yield f"{figure['mean']:.1f}{deviation}"


def _notes(result: Mapping[str, Any], form: str) -> str:
    seeds = result["seeds"]
    spread = (
        f"mean ± sample standard deviation over seeds {', '.join(map(str, seeds))}" if len(seeds) > 1 else "one seed"
    )
    return (
        f"{'- ' if form == 'markdown' else ''}Pearson x 100 on {result['development']}, development data; "
        f"{result['pairs']:,} pairs of each, {result['epochs']} epochs; {spread}.\n"
    )
