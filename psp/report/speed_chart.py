"""speed.json as a bar chart."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from psp.evaluation.speed.systems import OWN, PEERS
from psp.report.pictures import save

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: Key in speed.json -> legend, and a colour distinguishable in grey scale.
BARS = {
    "forward": ("ids in (the paper's protocol)", "#b8d0ea"),
    "warm": ("text in, warm", "#2b6cb0"),
    "cold": ("text in, cold", "#1a365d"),
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
    """Draw sentences per second on a log axis, one panel per number of cores, and list below what was not measured."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    counts = list(dict.fromkeys(row["cores"] for row in result["systems"]))
    names = list(dict.fromkeys(row["name"] for row in result["systems"]))
    width = 6.4 * len(counts) + 1.6
    conditions = _lines(_conditions(result["conditions"]), width)
    absent = [line for text in not_measured(result) for line in _lines(text, width)]
    height = 1.7 + 0.62 * len(names) + 0.17 * (len(conditions) + len(absent))
    figure = Figure(figsize=(width, height), dpi=120, layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(counts), sharey=True, sharex=True, squeeze=False)[0]
    every = [row[key] for row in result["systems"] for key in BARS if row[key] is not None]
    # Leave room for the numbers after the bars.
    panels[0].set_xlim(min(measured["min"] for measured in every) / 2, max(measured["max"] for measured in every) * 3)
    for panel, cores in zip(panels, counts, strict=True):
        panel.set_xscale("log")
        rows = {row["name"]: row for row in result["systems"] if row["cores"] == cores}
        for place, name in enumerate(names):
            if name not in rows:
                _say(panel, "not measured", place)
                continue
            for number, key in enumerate(BARS):
                at = place + 0.27 * (number - 1)
                if (measured := rows[name][key]) is not None:
                    _bar(panel, measured, at, BARS[key][1])
                elif key == "forward":
                    _say(panel, rows[name]["no_forward"] or "not measured", at)
        panel.set_title(f"{cores} core{'s' if cores > 1 else ''}", fontsize=11)
        panel.set_xlabel("sentences per second")
        panel.grid(axis="x", which="major", color="#dddddd")
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.45, -0.55)
    figure.suptitle(f"Speed of {result['model']}", fontsize=14, fontweight="bold")
    figure.legend(
        handles=[_swatch(label, colour) for label, colour in BARS.values()],
        loc="outside lower center",
        ncols=len(BARS),
        frameon=False,
        title="\n".join([*conditions, *absent]),
        title_fontproperties={"size": 9},
    )
    return figure


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


def _bar(panel: Any, measured: Mapping[str, Any], place: float, colour: str) -> None:
    panel.barh(place, measured["median"], 0.25, color=colour)
    panel.plot([measured["min"], measured["max"]], [place, place], color="#c05621", linewidth=1.5)
    panel.annotate(
        f"{measured['median']:,.0f}",
        (measured["max"], place),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=7,
    )


def _say(panel: Any, text: str, place: float) -> None:
    """Write a text in place of a missing bar."""
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


def _swatch(label: str, colour: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label)
