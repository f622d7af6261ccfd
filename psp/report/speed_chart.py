"""speed.json as a chart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.evaluation.speed.systems import OWN, PEERS
from psp.report.pictures import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Key in speed.json -> legend, colour, and marker.
DOTS = {
    "forward": ("ids in (the paper's protocol)", "#d5721e", "s"),
    "warm": ("text in, warm", "#2a86c7", "o"),
    "cold": ("text in, cold", "#1a365d", "D"),
}
#: Characters of small text per inch.
CHARACTERS = 13


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Draw speed.json as a PNG file, see :func:`picture`.

    Raises:
        DataError: the file cannot be written.
    """
    save(lambda: picture(result), path)


def picture(result: Mapping[str, Any]) -> Figure:
    """Draw sentences per second on a log axis, and list below what was not measured.

    Dots, not bars: a logarithmic axis has no 0 to start a bar from. There is one panel per number of cores if more
    cores change anything; otherwise only the smallest number is drawn.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    counts = _counts(result["systems"])
    others = sorted({row["cores"] for row in result["systems"]} - set(counts))
    same = f" (no faster on {' or '.join(map(str, others))})" if others else ""
    names = list(dict.fromkeys(row["name"] for row in result["systems"]))
    width = 6.4 * len(counts) + 1.6
    conditions = _lines(_conditions(result["conditions"]), width)
    absent = [line for text in not_measured(result) for line in _lines(text, width)]
    height = 1.7 + 0.62 * len(names) + 0.17 * (len(conditions) + len(absent))
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(counts), sharey=True, sharex=True, squeeze=False)[0]
    every = [row[key] for row in result["systems"] for key in DOTS if row[key] is not None]
    # Leave room for the numbers after the dots.
    panels[0].set_xlim(min(measured["min"] for measured in every) / 2, max(measured["max"] for measured in every) * 5)
    for panel, cores in zip(panels, counts, strict=True):
        panel.set_xscale("log")
        rows = {row["name"]: row for row in result["systems"] if row["cores"] == cores}
        for place, name in enumerate(names):
            if name not in rows:
                _say(panel, "not measured", place)
                continue
            for number, key in enumerate(DOTS):
                at = place + 0.27 * (number - 1)
                if (measured := rows[name][key]) is not None:
                    _dot(panel, measured, at, *DOTS[key][1:])
                elif key == "forward":
                    _say(panel, rows[name]["no_forward"] or "not measured", at)
        panel.set_title(f"{cores} core{'s' if cores > 1 else ''}{same}", fontsize=11)
        panel.set_xlabel("sentences per second, logarithmic")
        panel.grid(axis="x", which="major", color="#dddddd")
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.45, -0.55)
    figure.suptitle(f"Speed of {result['model']}", fontsize=14, fontweight="bold")
    figure.legend(
        handles=[_key(*entry) for entry in DOTS.values()],
        loc="outside lower center",
        ncols=len(DOTS),
        frameon=False,
        title="\n".join([*conditions, *absent]),
        title_fontproperties={"size": 9},
    )
    return figure


def _counts(systems: Sequence[Mapping[str, Any]]) -> list[int]:
    """The numbers of cores to draw: all, or only the smallest if more change nothing.

    A change must exceed the spread and a quarter: of many spreads, some are apart by chance.
    """
    counts = list(dict.fromkeys(row["cores"] for row in systems))
    of_first = {row["name"]: row for row in systems if row["cores"] == counts[0]}
    changed = (
        one and other and (other["min"] > max(one["max"], 1.25 * one["median"]) or other["max"] < one["min"] / 1.25)
        for row in systems
        for one, other in ((of_first.get(row["name"], row)[key], row[key]) for key in DOTS)
    )
    return counts if any(changed) or {row["name"] for row in systems} - of_first.keys() else counts[:1]


def not_measured(result: Mapping[str, Any]) -> Iterator[str]:
    """List the systems not measured, one line per reason: those unavailable, and those not requested."""
    reasons: dict[str, list[str]] = {}
    for one in result["missing"]:
        reasons.setdefault(one["why"].partition("\n")[0], []).append(one["name"])
    for why, names in reasons.items():
        yield f"Not measured: {'; '.join(names)} ({why})"
    there = {one["name"] for one in [*result["systems"], *result["missing"]]}
    for key, every in (("own", OWN), ("peers", PEERS)):
        if others := [name for name in every if name not in there]:
            yield f"Not requested (speed: {key}): {'; '.join(others)}"  # names contain commas


def _conditions(conditions: Mapping[str, Any]) -> str:
    return (
        f"{conditions['dim']:,} dimensions, {conditions['vocab_size']:,} pieces, {conditions['mean_pieces']:.1f} "
        f"pieces per sentence; medians, lines from minimum to maximum; {conditions['cpu']}"
    )


def _lines(text: str, width: float) -> list[str]:
    return textwrap.wrap(text, round(width * CHARACTERS), break_on_hyphens=False)


def _dot(panel: Any, measured: Mapping[str, Any], place: float, colour: str, marker: str) -> None:
    panel.plot([measured["min"], measured["max"]], [place, place], color=colour, linewidth=1.5)
    panel.plot([measured["median"]], [place], marker, color=colour, markersize=5)
    panel.annotate(
        f"{measured['median']:,.0f}",
        (measured["max"], place),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=7,
    )


def _say(panel: Any, text: str, place: float) -> None:
    """Write a text in place of a missing dot."""
    panel.annotate(
        text,
        (0, place),
        xycoords=("axes fraction", "data"),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=7,
        color="0.4",
    )


def _key(label: str, colour: str, marker: str) -> Any:
    from matplotlib.lines import Line2D

    return Line2D([], [], color=colour, marker=marker, markersize=5, linewidth=1.5, label=label)
