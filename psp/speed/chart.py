"""The speeds as a bar chart."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from psp.files import atomic

#: A figure of speed.json -> what the legend says, and a colour that is told from the others in grey too.
BARS = {
    "forward": ("ids in (the paper's protocol)", "#b8d0ea"),
    "warm": ("text in, warm", "#2b6cb0"),
    "cold": ("text in, cold", "#1a365d"),
}


def draw(result: Mapping[str, Any], path: Path) -> None:
    """Write speed.json's figures as a PNG: sentences a second on a logarithmic axis, a panel for each number of cores.

    Raises:
        DataError: the file cannot be written.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    counts = list(dict.fromkeys(row["cores"] for row in result["systems"]))
    names = list(dict.fromkeys(row["name"] for row in result["systems"]))
    figure = Figure(figsize=(6.4 * len(counts) + 1.6, 1.4 + 0.62 * len(names)), layout="constrained")
    FigureCanvasAgg(figure)
    panels = figure.subplots(1, len(counts), sharey=True, sharex=True, squeeze=False)[0]
    for panel, cores in zip(panels, counts, strict=True):
        rows = {row["name"]: row for row in result["systems"] if row["cores"] == cores}
        for place, name in enumerate(names):
            for number, (key, (_, colour)) in enumerate(BARS.items()):
                _bar(panel, rows.get(name, {}).get(key), place + 0.27 * (number - 1), colour)
        panel.set_xscale("log")
        panel.set_title(f"{cores} core{'s' if cores > 1 else ''}")
        panel.set_xlabel("sentences a second")
        panel.grid(axis="x", which="major", color="#dddddd")
        panel.set_axisbelow(True)
        panel.spines[["top", "right"]].set_visible(False)
    every = [row[key] for row in result["systems"] for key in BARS if row[key] is not None]
    # Room for the figures behind the bars.
    panels[0].set_xlim(min(found["min"] for found in every) / 2, max(found["max"] for found in every) * 3)
    panels[0].set_yticks(range(len(names)), names)
    panels[0].set_ylim(len(names) - 0.45, -0.55)
    conditions = result["conditions"]
    figure.suptitle(
        f"{conditions['dim']:,} dimensions, {conditions['vocab_size']:,} pieces, {conditions['mean_pieces']:.1f} "
        f"pieces a sentence; medians, lines from least to most; {conditions['cpu']}",
        fontsize=10,
    )
    figure.legend(
        handles=[_swatch(label, colour) for label, colour in BARS.values()],
        loc="outside lower center",
        ncols=len(BARS),
        frameon=False,
    )
    with atomic(path) as temporary:
        figure.savefig(temporary, format="png", dpi=120, metadata={"Software": None})


def _bar(panel: Any, found: Mapping[str, Any] | None, place: float, colour: str) -> None:
    if found is None:
        return
    panel.barh(place, found["median"], 0.25, color=colour)
    panel.plot([found["min"], found["max"]], [place, place], color="#c05621", linewidth=1.5)
    panel.annotate(
        f"{found['median']:,.0f}",
        (found["max"], place),
        xytext=(3, 0),
        textcoords="offset points",
        va="center",
        fontsize=7,
    )


def _swatch(label: str, colour: str) -> Any:
    from matplotlib.patches import Patch

    return Patch(color=colour, label=label)
